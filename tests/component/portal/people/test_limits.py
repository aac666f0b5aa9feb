"""Tests the limits of exports and API requests, the closed API schema and what browsers store."""

import gc
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.ui.api.throttle import Bucket, forget_callers
from tests.component.conftest import People

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
EXPORT = "/runs/?format=csv"


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_one_export_at_a_time_for_each_person(people: People) -> None:
    ada, ben = client_of(people.admin), client_of(people.second)
    first: Any = ada.get(EXPORT)
    rows = iter(first)
    next(rows)
    refused = ada.get(EXPORT)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "30"
    assert "still being sent" in refused.content.decode()
    other: Any = ben.get(EXPORT)
    assert b"".join(other), "others are not kept out"
    assert ada.get("/runs/").status_code == 200, "pages are not exports"
    for _ in rows:
        pass
    again: Any = ada.get(EXPORT)
    assert again.status_code == 200


def test_an_export_that_is_never_sent_frees_the_slot(people: People) -> None:
    ada = client_of(people.admin)
    first: Any = ada.get(EXPORT)
    assert ada.get(EXPORT).status_code == 429
    del first
    gc.collect()
    assert ada.get(EXPORT).status_code == 200


def test_a_person_who_sends_too_many_api_requests_is_told_when_to_go_on(
    people: People, settings: Any
) -> None:
    settings.LAKEWARDEN_API_PER_MINUTE = 3
    forget_callers()
    ada = client_of(people.admin)
    address = reverse("ui:api-runs")
    assert [ada.get(address).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = ada.get(address)
    assert refused.json()["code"] == "api.too_many"
    assert 1 <= int(refused["Retry-After"]) <= 20
    assert client_of(people.second).get(address).status_code == 200
    assert Client().get(address).status_code == 403, "who is not signed in is refused as before"
    forget_callers()


def test_a_program_has_a_limit_of_its_own(people: People, settings: Any) -> None:
    settings.LAKEWARDEN_API_PER_MINUTE, settings.LAKEWARDEN_API_TOKEN_PER_MINUTE = 1, 3
    forget_callers()
    wish = TokenParams("load", ("refresh",), 9)
    _, secret = token_make("ada", wish, user=people.admin, now=timezone.now())
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    address = reverse("refresh-hook:tell")
    statuses = [program.post(address).status_code for _ in range(4)]
    assert statuses[3] == 429
    assert 429 not in statuses[:3]
    assert client_of(people.admin).get(reverse("ui:api-runs")).status_code == 200
    forget_callers()


def test_the_requests_of_a_minute_may_come_at_once_and_refill_evenly() -> None:
    bucket = Bucket(60, 0.0)
    assert [bucket.take(per_minute=60, now=0.0) for _ in range(60)] == [0.0] * 60
    assert bucket.take(per_minute=60, now=0.0) == pytest.approx(1.0)
    assert bucket.take(per_minute=60, now=0.5) == pytest.approx(0.5)
    assert bucket.take(per_minute=60, now=1.0) == 0.0
    assert bucket.take(per_minute=60, now=0.0) > 0, "a clock that goes back gives nothing"
    assert sum(bucket.take(per_minute=60, now=9_999.0) == 0 for _ in range(99)) == 60


def test_the_schema_needs_a_log_in_and_is_made_once(people: People, monkeypatch: Any) -> None:
    address = reverse("ui:schema")
    assert Client().get(address).status_code == 403
    ada = client_of(people.admin)
    before = ada.get(address + "?format=json")
    assert before.json()["openapi"].startswith("3.")

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the document was made again")

    monkeypatch.setattr(SchemaGenerator, "get_schema", refuse)
    assert ada.get(address + "?format=json").content == before.content
    assert ada.get(address).content.startswith(b"openapi:")
    assert ada.get(address + "?version=9&lang=de&format=json").content == before.content


@pytest.mark.parametrize("path", ["/", "/runs/", EXPORT, "/api/v1/runs/", "/nothing/", "/login/"])
def test_no_answer_is_stored_by_a_browser(people: People, path: str) -> None:
    for client in (client_of(people.admin), Client()):
        assert "no-store" in client.get(path)["Cache-Control"]


def test_static_files_may_be_kept() -> None:
    answer = Client().get("/static/lw.css")
    assert "no-store" not in answer.headers.get("Cache-Control", "")
