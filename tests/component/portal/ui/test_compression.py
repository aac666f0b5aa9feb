"""Pages come compressed, and never what shows a secret."""

import gzip

import pytest
from django.test import Client

from portal.access.scopes import Scope, register_scope
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.portal.people.test_people_pages import signed_in

register_scope(Scope("compression", "Tell what a job has written."))
pytestmark = pytest.mark.django_db
GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def test_a_page_is_a_fraction_of_its_length(
    client: Client, people: People, lake: LakeConfig
) -> None:
    client.force_login(people.admin)
    plain = client.get("/runs/")
    assert "Content-Encoding" not in plain.headers
    packed = client.get("/runs/", headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert len(packed.content) * 3 < len(plain.content)
    assert b"<h1>Jobs" in gzip.decompress(packed.content)


def test_the_api_and_static_files_are_compressed_and_fonts_are_not(
    client: Client, people: People, lake: LakeConfig
) -> None:
    client.force_login(people.admin)
    answer = client.get("/api/v1/health/", headers=GZIP)
    assert answer.headers["Content-Encoding"] == "gzip"
    style = client.get("/static/lw.css", headers=GZIP)
    assert style.headers["Content-Encoding"] == "gzip"
    picture = client.get("/static/vendor/tabler-icons/fonts/tabler-icons.woff2", headers=GZIP)
    assert "Content-Encoding" not in picture.headers


def test_what_shows_a_new_secret_is_not_compressed(people: People, lake: LakeConfig) -> None:
    client = signed_in(people.owner)
    form = {"name": "load", "scope": "compression", "days": "30"}
    answer = client.post("/tokens/new/", form, headers=GZIP)
    assert b'value="lw_' in answer.content
    assert "Content-Encoding" not in answer.headers
