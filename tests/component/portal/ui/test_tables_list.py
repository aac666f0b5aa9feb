"""The list of tables begins with the worst, and filters by what is not in order."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.access.models import DatabaseAdministrator, OwnerMapping, User
from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import HealthRound, TablePart
from tests.component.conftest import People
from tests.component.portal.ui.table_rows import NOW, listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
BAD, WARN, OK = HealthLevel.BAD, HealthLevel.WARN, HealthLevel.OK


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def judged(name: str, *, db: str = "shop", owner: str = "olga", **parts: HealthLevel) -> None:
    table = listed(name, db=db, owner=owner, level=max(parts.values(), default=1))
    for part, level in parts.items():
        TablePart.objects.create(
            table=table, part=part, level=level, sentence=f"{part} of {name}", since=NOW
        )


@pytest.fixture
def tables(people: People) -> None:
    judged("fine", files=OK, cache=OK)
    judged("stale", files=OK, cache=BAD)
    judged("due", expiry=WARN)
    judged("small", db="web", owner="paul", files=WARN, cache=OK)
    judged("unseen", db="web", owner="paul")


def names(user: User, query: str = "") -> list[str]:
    answer: Any = client_of(user).get(f"/tables/{query}")
    assert answer.status_code == 200
    return [row.name for row in answer.context["page"].rows]


@pytest.mark.usefixtures("tables")
def test_the_worst_comes_first_and_filters_say_why(people: People) -> None:
    ada = people.admin
    assert names(ada) == ["stale", "due", "small", "unseen", "fine"]
    assert names(ada, "?sort=name") == ["due", "fine", "stale", "small", "unseen"]
    assert names(ada, "?level=WARN") == ["due", "small"]
    assert names(ada, "?part=files") == ["small"]
    assert names(ada, "?part=cache&level=OK") == ["small", "fine"]
    assert names(ada, "?part=cache&level=BAD") == ["stale"]
    assert names(ada, "?db=web") == ["small", "unseen"]
    assert names(ada, "?name=al") == ["stale", "small"]
    assert names(ada, "?person=paul") == ["small", "unseen"]
    assert names(ada, "?level=NONSENSE") == []
    assert names(people.owner) == ["stale", "due", "fine"]
    assert names(people.stranger) == []


@pytest.mark.usefixtures("tables")
def test_mine_are_those_that_i_answer_for(people: People) -> None:
    DatabaseAdministrator.objects.create(lake="main", db="web", username="dora")
    OwnerMapping.objects.create(lake="main", owner="paul", username="stan", added_at=NOW)
    for user in (people.dba, people.stranger):
        fresh = User.objects.get(pk=user.pk)
        assert names(fresh, f"?person={user.username}") == ["small", "unseen"]
    text = client_of(people.admin).get("/tables/").content.decode()
    assert 'href="/tables/?lake=main&amp;person=ada">Mine</a>' in text
    assert 'href="/tables/?lake=main&amp;part=cache">Stale</a>' in text


@pytest.mark.usefixtures("tables")
def test_the_list_says_how_old_its_health_is_and_what_is_filtered(people: People) -> None:
    client = client_of(people.admin)
    assert "was not judged yet" in client.get("/tables/").content.decode()
    HealthRound.objects.create(lake="main", began_at=NOW, judged_at=NOW)
    text = client.get("/tables/?part=cache&level=BAD&db=shop&after=").content.decode()
    assert "Health as of" in text
    assert "cache of stale" in text
    assert 'href="?level=BAD&amp;db=shop" aria-label="Remove the filter Because of: Cache"' in text
    exported: Any = client.get("/tables/?format=csv&level=BAD")
    csv = b"".join(exported.streaming_content).decode()
    assert csv.splitlines()[1].startswith("main,shop,stale,BAD,parquet,olga")


@pytest.mark.usefixtures("tables")
def test_a_database_counts_its_tables_by_level_and_leads_to_them(people: People) -> None:
    client = client_of(people.admin)
    answer: Any = client.get("/databases/shop/")
    assert answer.status_code == 200
    found = answer.context["found"]
    assert found.n_tables == 3
    assert found.levels == {BAD: 1, WARN: 1, OK: 1}
    assert found.parts == {"files": {OK: 2}, "cache": {OK: 1, BAD: 1}, "expiry": {WARN: 1}}
    text = answer.content.decode()
    assert 'href="/tables/?lake=main&amp;db=shop&amp;part=cache&amp;level=BAD"' in text
    assert names(people.admin, "?lake=main&db=shop&part=cache&level=BAD") == ["stale"]
    assert client_of(people.owner).get("/databases/web/").status_code == 404
    assert client.get("/databases/never/").status_code == 404


@pytest.mark.usefixtures("tables")
def test_the_api_has_the_same_lists_in_the_same_words(people: People) -> None:
    client = client_of(people.admin)
    rows = client.get("/api/v1/tables/?part=cache").json()["results"]
    assert [(row["name"], row["health"]) for row in rows] == [("stale", "BAD")]
    assert rows[0]["parts"][0] == {
        "part": "cache", "level": "BAD", "sentence": "cache of stale",
        "since": "2026-11-20T10:00:00+01:00",
    }  # fmt: skip
    one = client.get("/api/v1/tables/shop/stale/").json()
    assert (one["db"], one["name"], one["tabs"]) == ("shop", "stale", ["checks", "history"])
    assert client.get("/api/v1/tables/shop/never/").json()["code"] == "catalog.table"
    found = client.get("/api/v1/databases/shop/").json()
    assert {"level": "BAD", "n_tables": 1} in found["levels"]
    assert client_of(people.stranger).get("/api/v1/databases/shop/").status_code == 404


def test_a_page_of_50_tables_costs_as_many_queries_as_one_of_1(people: People) -> None:
    def n_queries() -> int:
        client = client_of(people.admin)
        client.get("/tables/")
        with CaptureQueriesContext(connection) as counted:
            assert client.get("/tables/").status_code == 200
        return len(counted)

    judged("t0", files=BAD)
    few = n_queries()
    for number in range(1, 60):
        judged(f"t{number}", files=BAD, cache=WARN)
    assert n_queries() == few <= 16
