"""The search page, what drops down from the field, and the API give the same, whatever is typed."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from urllib.parse import quote
from uuid import UUID

import pytest
from django.core.cache import cache
from django.test import Client

from portal.access.models import User
from portal.catalog.models import Table
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.search import registry
from portal.search.models import OpenedObject
from portal.search.registry import Hit, SearchSource, register_source
from portal.search.services.opened import KEPT, opened_record, opened_trim
from tests.component.conftest import People
from tests.component.portal.search.found import LAKE, catalogued

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shop(lake: LakeConfig, now: datetime) -> None:
    """A few tables, and nothing remembered of another test."""
    cache.clear()
    catalogued("sales.clicks_live", "sales.orders", now=now)


@pytest.fixture
def broken_source() -> Iterator[None]:
    """A source that breaks whatever it is asked."""

    def find(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
        raise LookupError(text)

    register_source(SearchSource("broken", "Ghosts", 15, find))
    yield
    registry._sources.pop("broken")


def drop_down(client: Client, text: str) -> str:
    answer = client.get(f"/search/?q={quote(text)}", headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return str(answer.content.decode())


def keys(client: Client, text: str) -> dict[str, list[str]]:
    groups = client.get(f"/api/v1/search/?q={quote(text)}").json()["groups"]
    return {group["key"]: [hit["title"] for hit in group["hits"]] for group in groups}


def test_the_page_the_drop_down_and_the_api_find_the_same(client: Client, people: People) -> None:
    client.force_login(people.admin)
    page = client.get("/search/?q=clik").content.decode()
    assert "sales.clicks_live</a>" in page
    listed = drop_down(client, "clik")
    assert 'role="option"' in listed
    assert "sales.clicks_live" in listed
    assert keys(client, "clik")["tables"] == ["sales.clicks_live"]
    hit = client.get("/api/v1/search/?q=live").json()["groups"][0]["hits"][0]
    assert hit["detail"] == "iceberg, olga"
    assert hit["url"]


def test_what_one_may_not_see_is_not_found(client: Client, people: People) -> None:
    client.force_login(people.stranger)
    assert keys(client, "clicks") == {}
    assert keys(client, "olga") == {}
    assert "Nothing found" in client.get("/search/?q=clicks").content.decode()
    client.logout()
    assert client.get("/search/?q=clicks").status_code == 302
    assert client.get("/api/v1/search/?q=clicks").status_code in (401, 403)


def test_a_source_that_breaks_does_not_hide_the_others(
    client: Client, people: People, broken_source: None
) -> None:
    client.force_login(people.admin)
    for text in (client.get("/search/?q=live").content.decode(), drop_down(client, "live")):
        assert "Ghosts could not be searched." in text
        assert "sales.clicks_live" in text
    groups = client.get("/api/v1/search/?q=live").json()["groups"]
    assert [one["key"] for one in groups if one["has_failed"]] == ["broken"]


@pytest.mark.parametrize(
    ("text", "code"), [("a\x00b", "search.null"), ("x" * 10_000, "search.too_long")]
)
def test_what_no_name_can_be_is_refused_in_words(
    client: Client, people: People, text: str, code: str
) -> None:
    client.force_login(people.admin)
    answer = client.get(f"/api/v1/search/?q={quote(text)}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    page = client.get(f"/search/?q={quote(text)}")
    assert page.status_code == 400
    message = answer.json()["message"]
    assert message in page.content.decode()
    assert message in drop_down(client, text)


@pytest.mark.parametrize(
    "text", ["", "   ", "%", "_", "'\"<script>", "\\", "\u202e", "🦆" * 100, "\ud7ff", "a." * 100]
)
def test_odd_texts_are_answered(client: Client, people: People, text: str) -> None:
    client.force_login(people.admin)
    assert client.get(f"/search/?q={quote(text)}").status_code == 200
    assert "<script>" not in drop_down(client, text)
    assert client.get(f"/api/v1/search/?q={quote(text)}").status_code == 200


def test_pages_and_people_are_found_by_those_who_may_see_them(
    client: Client, people: People
) -> None:
    client.force_login(people.admin)
    assert "Jobs" in keys(client, "job")["pages"]
    assert "Users" in keys(client, "users")["pages"]
    assert "olga" in keys(client, "olg")["people"]
    assert "people" not in keys(client, "%")
    client.force_login(people.owner)
    assert "Users" not in keys(client, "users").get("pages", [])


def test_a_run_is_found_by_the_beginning_of_its_id(
    client: Client, people: People, now: datetime
) -> None:
    key = UUID("a1b2c3d4-e5f6-4a5b-8c7d-0123456789ab")
    Run.objects.create(
        id=key, lake=LAKE, kind="scan", state="DONE", requested_by="olga", queued_at=now
    )
    client.force_login(people.owner)
    for text in ("a1b2", "A1B2C3D4", "a1b2c3d4-e5f6", str(key), key.hex):
        assert [one[-8:] for one in keys(client, text)["runs"]] == ["a1b2c3d4"], text
    assert "runs" not in keys(client, "a1b3")
    client.force_login(people.stranger)
    assert "runs" not in keys(client, str(key))


def test_what_was_opened_last_is_shown_to_who_opened_it(
    client: Client, people: People, now: datetime
) -> None:
    for number in range(KEPT + 2):
        key = f"{number}" * 8 + "-0000-4000-8000-000000000000"
        Run.objects.create(id=key, lake=LAKE, kind="scan", requested_by="olga", queued_at=now)
        opened_record(
            people.owner,
            view="ui:run",
            key={"run_id": key},
            lake=LAKE,
            url=f"/runs/{number}/",
            now=now + timedelta(seconds=number),
        )
    client.force_login(people.owner)
    opened = client.get("/api/v1/search/").json()["opened"]
    assert [one["title"] for one in opened] == [f"Run {n}" + f"{n}" * 7 for n in range(9, 1, -1)]
    assert "Opened last" in drop_down(client, "")
    assert OpenedObject.objects.count() == KEPT + 2
    assert opened_trim(LAKE, now=now) == 2
    assert opened_trim(LAKE, now=now) == 0
    assert client.get("/api/v1/search/").json()["opened"] == opened
    client.force_login(people.stranger)
    assert client.get("/api/v1/search/").json()["opened"] == []
    assert "Opened last" not in drop_down(client, "")


def test_the_same_object_within_a_minute_is_written_once(people: People, now: datetime) -> None:
    for seconds in (0, 30, 61):
        opened_record(
            people.owner,
            view="ui:run",
            key={"run_id": "a"},
            lake=LAKE,
            url="/runs/a/",
            now=now + timedelta(seconds=seconds),
        )
        at = OpenedObject.objects.get().at
        assert at == (now if seconds < 60 else now + timedelta(seconds=61))


def test_a_run_that_is_opened_is_remembered_and_a_list_is_not(
    client: Client, people: People, now: datetime
) -> None:
    run = Run.objects.create(
        lake=LAKE, kind="scan", state="DONE", requested_by="olga", queued_at=now
    )
    client.force_login(people.owner)
    client.get("/runs/")
    client.get("/runs/00000000-0000-4000-8000-000000000000/")
    assert not OpenedObject.objects.exists()
    client.get(f"/runs/{run.pk}/")
    assert OpenedObject.objects.get().url == f"/runs/{run.pk}/?lake={LAKE}"


def test_a_table_that_one_no_longer_may_see_is_not_shown(
    client: Client, people: People, now: datetime
) -> None:
    opened_record(
        people.owner,
        view="ui:table",
        key={"db": "sales", "table": "orders"},
        lake=LAKE,
        url="/x/",
        now=now,
    )
    client.force_login(people.owner)
    assert client.get("/api/v1/search/").json()["opened"][0]["title"] == "sales.orders"
    Table.objects.filter(name="orders").update(owner="paul")
    assert client.get("/api/v1/search/").json()["opened"] == []


def test_every_page_has_the_field(client: Client, people: People) -> None:
    client.force_login(people.owner)
    page = client.get("/runs/").content.decode()
    assert 'role="search"' in page
    assert 'action="/search/"' in page
