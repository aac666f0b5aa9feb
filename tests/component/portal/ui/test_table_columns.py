"""The columns of the list of tables are chosen, kept in address and views, and are in the CSV."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from django.test import Client

from portal.access.models import User
from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import Table, TablePart
from portal.catalog.services.columns import (
    TableColumn,
    Values,
    read_columns,
    register_table_columns,
    table_columns,
)
from tests.component.conftest import People
from tests.component.portal.ui.table_rows import NOW, listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
asked: list[int] = []


def weights(lake: str, tables: Sequence[Table]) -> Values:
    asked.append(len(tables))
    return {one.pk: {"weight": 7, "weighed": date(2026, 11, 3)} for one in tables if one.owner}


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.catalog.services.columns._columns", {})
    monkeypatch.setattr("portal.catalog.services.columns._readers", {})
    asked.clear()
    register_table_columns(
        weights,
        TableColumn("weighed", "Weighed", 20, "day"),
        TableColumn("weight", "Weight", 10, "count", tab="history"),
    )


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def heads(answer: Any) -> list[str]:
    return [column.title for column in answer.context["table"].columns]


def lines(client: Client, query: str) -> list[str]:
    answer: Any = client.get(f"/tables/?format=csv&{query}")
    return b"".join(answer.streaming_content).decode().splitlines()


@pytest.fixture
def stale(people: People) -> None:
    table = listed("carts", owner="olga", level=HealthLevel.BAD)
    for part, level in (("cache", HealthLevel.BAD), ("files", HealthLevel.OK)):
        TablePart.objects.create(
            table=table, part=part, level=level, sentence=f"{part} said", since=NOW
        )
    listed("nobodys", owner="")


@pytest.mark.usefixtures("weighed", "stale")
def test_the_menu_chooses_columns_without_javascript(people: People) -> None:
    client = client_of(people.admin)
    standard = client.get("/tables/?db=shop")
    assert heads(standard) == ["Table", "Health", "Findings", "Format", "Owner"]
    assert asked == []
    text = standard.content.decode()
    assert '<input class="form-check-input" type="checkbox" name="cols" value="weight">' in text
    assert 'name="cols" value="format" checked>' in text
    assert '<input type="hidden" name="db" value="shop">' in text
    chosen = client.get("/tables/?db=shop&cols=owner&cols=weight&cols=health-cache&cols=nonsense")
    assert heads(chosen) == ["Table", "Cache", "Owner", "Weight"]
    assert asked == [2]
    text = chosen.content.decode()
    assert 'href="/tables/shop/carts/history/?lake=main">7</a>' in text
    assert "Stale" in text or "Bad" in text
    assert '<input type="hidden" name="cols" value="health-cache,owner,weight">' in text
    assert heads(client.get("/tables/?cols=nonsense")) == heads(standard)


@pytest.mark.usefixtures("weighed", "stale")
def test_the_csv_has_the_chosen_columns_and_the_page_says_so(people: People) -> None:
    client = client_of(people.admin)
    assert "CSV of this filter</a>" in client.get("/tables/").content.decode()
    query = "cols=weight,health,findings,health-cache,weighed&sort=name"
    assert (
        "CSV of this filter, these columns</a>" in client.get(f"/tables/?{query}").content.decode()
    )
    assert lines(client, query) == [
        "lake,db,name,health,findings,health-cache,weight,weighed",
        "main,shop,carts,BAD,cache said,BAD,7,2026-11-03",
        "main,shop,nobodys,UNKNOWN,,,,",
    ]
    assert lines(client, "sort=name")[0].startswith("lake,db,name,health,format,owner,db_owner")


@pytest.mark.usefixtures("weighed", "stale")
def test_a_saved_view_keeps_the_columns(people: People) -> None:
    client = client_of(people.admin)
    page: Any = client.get("/tables/?cols=owner&cols=weight&level=BAD")
    saved: Any = client.post(
        "/saved-views/?lake=main", {"name": "Weights", "query": page.context["view_query"]}
    )
    assert saved.headers["Location"] == "/tables/?lake=main&level=BAD&cols=owner%2Cweight"
    again = client.get(saved.headers["Location"])
    assert heads(again) == ["Table", "Owner", "Weight"]
    assert 'aria-current="true"' in again.content.decode()


@pytest.mark.usefixtures("weighed", "stale")
def test_the_api_answers_with_the_columns_that_are_asked_for(people: People) -> None:
    client = client_of(people.admin)
    rows = client.get("/api/v1/tables/?sort=name&cols=weight").json()["results"]
    assert [row["columns"] for row in rows] == [{"weight": 7}, {}]
    assert client.get("/api/v1/tables/").json()["results"][0]["columns"] == {}
    one = client.get("/api/v1/tables/shop/carts/").json()
    assert one["columns"] == {"weight": 7, "weighed": "2026-11-03"}


def test_every_registered_column_of_the_areas_can_be_chosen_together(people: People) -> None:
    names = [column.key for column in table_columns()]
    assert len(names) == len(set(names)) >= 8
    assert read_columns("main", [], names) == {}
    listed("carts", owner="olga")
    assert client_of(people.admin).get(f"/tables/?cols={','.join(names)}").status_code == 200
