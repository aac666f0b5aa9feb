"""The page of a table is put together from what the areas register, whatever the table's format."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from lifecycle.backup.models import Hold
from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.services.registry import read_health
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import target, wrong

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ODD = ("a/b", "100%", "two words", "..", ".", "%2F", "naïve", "表", "🦆", "a?b#c", "x;y", "a+b&c")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def tabs_of(answer: Any) -> list[str]:
    return [tab.title for tab in answer.context["frame"]["subject"].tabs]


def parts_of(answer: Any) -> dict[str, str]:
    shown = answer.context["frame"]["subject"]
    return {
        part.title: f"{part.finding.level.name} {part.finding.sentence}" for part in shown.parts
    }


def test_each_table_has_the_tabs_that_apply_to_it(people: People, now: datetime) -> None:
    for name, form in (("plain", "parquet"), ("clicks", "iceberg"), ("trips", "hudi")):
        listed(name, format=form)
    iceberg("clicks")
    hudi("trips")
    target(cluster(), "clicks", now=now)
    client = client_of(people.owner)
    expected = {
        "plain": ["Overview", "Checks", "History"],
        "clicks": [
            "Overview",
            "Files",
            "Indexes",
            "Cubes",
            "Scans",
            "Advice",
            "Cache",
            "Checks",
            "History",
        ],
        "trips": ["Overview", "Files", "Checks", "History"],
    }
    for name, tabs in expected.items():
        answer = client.get(f"/tables/shop/{name}/")
        assert answer.status_code == 200
        assert tabs_of(answer) == tabs
        for tab in answer.context["frame"]["subject"].tabs:
            page = client.get(tab.url)
            assert page.status_code == 200, tab.url
            assert tabs_of(page) == tabs
            assert f"<h1>shop.{name}</h1>" in page.content.decode()
    refused = client.get("/tables/shop/plain/files/")
    assert refused.status_code == 404
    assert "no such tab" in refused.content.decode()
    assert client.get("/tables/shop/clicks/nothing/").status_code == 404
    assert client.get("/tables/shop/clicks/files/nothing/").status_code == 404


def test_the_parts_of_the_files_tab_stand_below_the_header_too(people: People) -> None:
    listed("clicks", format="iceberg")
    listed("trips", format="hudi")
    iceberg("clicks")
    hudi("trips")
    client = client_of(people.admin)
    parts = {
        "clicks": ("", "files/", "layout/", "commits/", "tasks/", "policy/"),
        "trips": ("", "timeline/", "groups/", "services/", "tasks/", "settings/"),
    }
    for name, some in parts.items():
        for part in some:
            page = client.get(f"/tables/shop/{name}/files/{part}")
            assert page.status_code == 200, (name, part)
            text = page.content.decode()
            assert text.count("<h1>") == 1
            assert 'aria-label="Parts of the table"' in text
            assert f'href="/tables/shop/{name}/files/{part}?lake=main" aria-current="page"' in text
            assert not re.search(r'href="[^"?]*\?[^"?]*\?', text), "an address with two queries"


def test_the_health_is_that_of_the_worst_part(people: People, now: datetime) -> None:
    listed("clicks", format="iceberg")
    iceberg("clicks", health=20.0)
    bi = cluster()
    target(bi, "clicks", now=now)
    client = client_of(people.admin)
    answer = client.get("/tables/shop/clicks/")
    assert parts_of(answer) == {
        "Cache": f"OK Results are current in {bi.name}",
        "Files": "BAD Score 20 of 100",
    }
    text = answer.content.decode()
    assert "In poor health" in text
    assert "Repair its files" in text  # the one action that the worst part needs

    wrong(bi, "orders", now=now)
    listed("orders")
    text = client.get("/tables/shop/orders/").content.decode()
    assert "Stale results possible" in text
    assert "Repair the cache" in text

    listed("plain")
    text = client.get("/tables/shop/plain/").content.decode()
    assert "Health unknown" in text


def test_what_a_scan_found_is_judged_as_on_the_lists(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    scan(lake, now=now)
    Hold.objects.create(
        lake="main", db="sales", table="orders", placed_by="alice", reason="an audit",
        placed_at=now, until=now + timedelta(days=3000),
    )  # fmt: skip
    client = client_of(people.owner)
    answer = client.get("/tables/sales/orders/")
    assert tabs_of(answer) == ["Overview", "Partitions", "Lifecycle", "Checks", "History"]
    assert parts_of(answer)["Paths"] == "OK No path violations"
    assert parts_of(answer)["Expiry"].startswith("OK On hold, until 203")
    assert "by alice: an audit." in answer.content.decode()
    stray = client_of(people.admin).get("/tables/sales/stray/")
    assert parts_of(stray)["Paths"].startswith("WARN The table's own path")


def test_strangers_do_not_find_a_table_and_nobody_one_that_never_was(people: People) -> None:
    listed("clicks", format="iceberg")
    iceberg("clicks")
    for address in ("/tables/shop/clicks/", "/tables/shop/clicks/files/"):
        assert client_of(people.owner).get(address).status_code == 200
        refused = client_of(people.stranger).get(address)
        assert refused.status_code == 404
        assert "There is no table shop.clicks for you." in refused.content.decode()
        assert Client().get(address).status_code == 302
        assert client_of(people.owner).post(address).status_code == 405
    assert client_of(people.admin).get("/tables/shop/never/").status_code == 404
    pages = [
        client_of(people.stranger).get(f"/tables/shop/{name}/").content.decode().split("<main")[1]
        for name in ("clicks", "other")
    ]
    assert pages[0] == pages[1].replace("other", "clicks"), "a stranger cannot tell them apart"
    for link in (
        "/lifecycle/dropped/?lake=main&amp;db=shop&amp;table=clicks",
        "/search/?",
        "/tables/?",
    ):
        assert f'href="{link}' in pages[0]
    names = [str(row) for row in client_of(people.owner).get("/tables/").context["page"].rows]
    assert names == ["shop.clicks"]
    assert not client_of(people.stranger).get("/tables/").context["page"].rows


def test_a_table_dropped_while_its_page_is_open_says_so(people: People, now: datetime) -> None:
    listed("clicks", format="iceberg", deleted_at=now - timedelta(days=9))
    listed("clicks", format="iceberg", deleted_at=now)
    client = client_of(people.owner)
    for address in ("/tables/shop/clicks/", "/tables/shop/clicks/files/"):
        answer = client.get(address)
        assert answer.status_code == 410
        text = answer.content.decode()
        assert "This table was dropped on" in text
        assert "2026-11-20" in text
        assert tabs_of(answer) == ["Overview", "History"]
    assert client.get("/tables/shop/clicks/history/").status_code == 200
    assert client_of(people.stranger).get("/tables/shop/clicks/").status_code == 404
    listed("clicks")
    assert client.get("/tables/shop/clicks/").status_code == 200


@pytest.mark.parametrize("name", ODD)
def test_a_name_of_any_signs_has_its_page(people: People, name: str) -> None:
    listed(name, db=name)
    client = client_of(people.admin)
    address = reverse("ui:table", args=[name, name])
    assert not {".", ".."} & set(address.split("/"))
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.context["table"].name == name
    for tab in answer.context["frame"]["subject"].tabs:
        assert client.get(tab.url).status_code == 200, tab.url
    listing = client.get("/tables/").content.decode()
    assert escape(address) in listing


def test_former_addresses_lead_to_the_tab_with_what_was_asked(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    scan(lake, now=now)
    listed("clicks", format="iceberg")
    listed("trips", format="hudi")
    row, trips = iceberg("clicks"), hudi("trips")
    cached = target(cluster(), "clicks", now=now)
    client = client_of(people.admin)
    former = {
        "/lifecycle/tables/sales/orders/?cls=SOON": (
            "/tables/sales/orders/partitions/?cls=SOON&lake=main"
        ),
        "/lifecycle/tables/sales/orders/": "/tables/sales/orders/lifecycle/?lake=main",
        "/lifecycle/tables/sales/orders/policy/?level=1&ttl=9": (
            "/tables/sales/orders/lifecycle/?level=1&ttl=9&lake=main"
        ),
        "/tables/sales/orders/lifecycle/?cls=SOON&lake=main": (
            "/tables/sales/orders/partitions/?cls=SOON&lake=main"
        ),
        "/tables/sales/orders/lifecycle/?format=csv": (
            "/tables/sales/orders/partitions/?format=csv"
        ),
        f"/optimizer/tables/{row.pk}/": "/tables/shop/clicks/files/?lake=main",
        f"/optimizer/tables/{row.pk}/files/": "/tables/shop/clicks/files/files/?lake=main",
        f"/optimizer/hudi/{trips.pk}/timeline/?sort=at": (
            "/tables/shop/trips/files/timeline/?sort=at&lake=main"
        ),
        f"/refresh/tables/{cached.pk}/": f"/tables/shop/clicks/cache/?lake=main&target={cached.pk}",
    }
    for address, new in former.items():
        answer: Any = client.get(address)
        assert (answer.status_code, answer["Location"]) == (302, new)
        assert client.get(new).status_code == 200
    # A row of the past keeps its own page: the name may mean another table by now.
    row.is_deleted = True
    row.save()
    past = client.get(f"/optimizer/tables/{row.pk}/")
    assert past.status_code == 200
    assert "The table is gone" in past.content.decode()


def test_the_health_of_many_tables_costs_as_many_queries_as_that_of_one(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    scan(lake, now=now)
    bi = cluster()

    def n_queries(tables: list[Table]) -> int:
        with CaptureQueriesContext(connection) as counted:
            found = read_health("main", tables)
        assert len(found) == len(tables)
        return len(counted)

    forms: dict[str, Callable[..., Any]] = {"iceberg": iceberg, "hudi": hudi}
    for number in range(25):
        for form, make in forms.items():
            listed(f"{form}{number}", format=form)
            make(f"{form}{number}")
        target(bi, f"iceberg{number}", now=now)
    some = list(Table.objects.filter(name__in=("iceberg0", "hudi0", "orders")))
    every = list(Table.objects.all())
    assert len(every) > 50
    assert n_queries(every) <= n_queries(some) <= 10


def test_the_page_of_a_table_costs_few_queries(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    scan(lake, now=now)
    client = client_of(people.owner)
    client.get("/tables/sales/orders/")
    with CaptureQueriesContext(connection) as counted:
        assert client.get("/tables/sales/orders/").status_code == 200
    assert len(counted) <= 35
