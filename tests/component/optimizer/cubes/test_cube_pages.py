"""Pages and API of cubes: defining with errors at the field, the estimate, one cube, all cubes."""

from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.models import Cube, IcebergTable
from portal.access.models import User
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.cubes.cube_rows import DRAFT, FIGURES, cube, definition_of, estimate
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TYPED = {"name": "by_kind", "dimensions": "kind", "measures": "price: sum, count", "max_leaf": "10"}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def table(people: People) -> IcebergTable:
    listed("clicks", format="iceberg")
    return iceberg("clicks", now=timezone.now(), owner=people.owner.username)


def test_what_is_typed_is_estimated_then_defined_then_seen(
    people: People, table: IcebergTable
) -> None:
    client = client_of(people.owner)
    tab = client.get("/tables/shop/clicks/cubes/?lake=main").content.decode()
    assert "No cubes" in tab
    assert f"/optimizer/tables/{table.pk}/cubes/new/" in tab
    asked = client.post(f"/optimizer/tables/{table.pk}/cubes/new/", TYPED)
    assert asked.status_code == 302
    run = Run.objects.get(kind="optimizer.cube_estimate")
    waiting = client.get(asked["Location"]).content.decode()
    assert 'hx-trigger="every 3s"' in waiting
    run.state, run.finished_at = "DONE", timezone.now()
    run.result = {"definition": definition_of(table), **FIGURES}
    run.save()
    shown = client.get(asked["Location"]).content.decode()
    for words in ("It would pay.", "480 rows, 4.0%", "Define the cube", "16"):
        assert words in shown
    made = client.post(f"{asked['Location']}define/", {"reason": "dashboards"})
    row = Cube.objects.get()
    assert made["Location"] == f"/optimizer/cubes/{row.pk}/"
    page = client.get(made["Location"]).content.decode()
    for words in ("Nothing is built yet", "dashboards", "fact.kind", "No reader has reported"):
        assert words in page


def test_pages_that_define_a_cube_stand_under_cubes(people: People, table: IcebergTable) -> None:
    run = estimate(table)
    of_table = f"/optimizer/tables/{table.pk}/cubes"
    for user in (people.owner, people.admin):
        for address in (f"{of_table}/new/", f"{of_table}/estimate/{run.pk}/"):
            page = client_of(user).get(address).content.decode()
            tabs = page.split('aria-label="Pages of Table services"')[1].split("</nav>")[0]
            assert '<a href="/optimizer/cubes/" aria-current="true">Cubes' in tabs
            assert tabs.count("aria-current") == 1


def test_errors_stand_at_their_fields_and_nothing_typed_is_lost(
    people: People, table: IcebergTable
) -> None:
    client = client_of(people.owner)
    bad = TYPED | {"joins": "p shop.part", "measures": "price: median", "dimensions": "kind"}
    page = client.post(f"/optimizer/tables/{table.pk}/cubes/new/", bad)
    text = page.content.decode()
    assert page.status_code == 400
    at_joins = text.split('id="cube-errors-joins"')[1].split("</div>")[0]
    assert "Line 1: Write it as" in at_joins
    at_measures = text.split('id="cube-errors-measures"')[1].split("</div>")[0]
    assert "median is none of them" in at_measures
    assert "price: median" in text
    hidden = TYPED | {"joins": "s: shop.secret on id = id", "dimensions": "s.name"}
    refused = client.post(f"/optimizer/tables/{table.pk}/cubes/new/", hidden)
    assert "no Iceberg table shop.secret for you" in refused.content.decode()
    assert not Run.objects.exists()


def test_the_check_while_typing_answers_with_each_field(
    people: People, table: IcebergTable
) -> None:
    answer = client_of(people.owner).post(
        f"/optimizer/tables/{table.pk}/cubes/check/", TYPED | {"skip_star": "nothing"}
    )
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'id="cube-errors-skip_star" aria-live="polite" hx-swap-oob="true"' in text
    assert "nothing is no dimension" in text
    assert "fact.kind" in text


def test_an_estimate_that_does_not_pay_offers_no_cube(people: People, table: IcebergTable) -> None:
    run = estimate(table, pays=False, reason="The cube would hold 95% of the rows.")
    client = client_of(people.owner)
    where = f"/optimizer/tables/{table.pk}/cubes/estimate/{run.pk}/"
    page = client.get(where).content.decode()
    assert "It would not pay." in page
    assert "Define the cube" not in page
    assert client.post(f"{where}define/", {"reason": "so"}).status_code == 400
    typed = client.get(f"/optimizer/tables/{table.pk}/cubes/new/?estimate={run.pk}")
    assert "price = fact.price: sum, count" in typed.content.decode()
    assert client_of(people.stranger).get(where).status_code == 404
    assert client.get(f"/optimizer/tables/{table.pk}/cubes/new/?estimate=x").status_code == 404


def test_a_cube_is_shown_with_what_it_covers_and_costs(
    people: People, table: IcebergTable, now: datetime
) -> None:
    row = cube(table, now=now)
    client = client_of(people.owner)
    page = client.get(f"/optimizer/cubes/{row.pk}/").content.decode()
    for words in (
        "50.0 %",
        "6,000 of 12,000",
        "not built yet",
        "dt=2026-11-20",
        "4.5",
        "Version 1",
    ):
        assert words in page
    assert "the newest that is known" in page
    tab = client.get("/tables/shop/clicks/cubes/?lake=main").content.decode()
    assert "6,000 of 12,000" in tab
    assert client_of(people.stranger).get(f"/optimizer/cubes/{row.pk}/").status_code == 404


def test_the_list_filters_exports_and_hides_what_is_not_theirs(
    people: People, table: IcebergTable, now: datetime
) -> None:
    cube(table, now=now)
    cube(table, "whole", now=now, n_rows_covered=12_000)
    cube(table, "old", now=now, state="DROPPED", is_there=None)
    other = iceberg("orders", now=now, owner="nobody")
    cube(other, "hidden", now=now)
    client = client_of(people.owner)
    page = client.get("/optimizer/cubes/?lake=main").content.decode()
    assert "by_kind" in page
    assert "<code>hidden<" not in page
    assert ">old<" not in page
    stale = client.get("/optimizer/cubes/?lake=main&show=stale").content.decode()
    assert "whole" not in stale.split('id="list"')[1]
    dropped = client.get("/optimizer/cubes/?lake=main&state=DROPPED").content.decode()
    assert "<code>old</code>" in dropped
    export: Any = client.get("/optimizer/cubes/?lake=main&format=csv")
    lines = b"".join(export.streaming_content).decode().splitlines()
    assert len(lines) == 3
    assert "shop.clicks__cube_by_kind" in lines[1]
    rows = client.get("/api/v1/optimizer/cubes/?lake=main").json()["results"]
    assert [one["name"] for one in rows] == ["by_kind", "whole"]
    empty = client_of(people.stranger).get("/optimizer/cubes/?lake=main").content.decode()
    assert "No cube is defined yet" in empty


def test_what_is_asked_of_a_cube_by_page_and_api(
    people: People, table: IcebergTable, now: datetime
) -> None:
    row = cube(table, now=now)
    client = client_of(people.owner)
    for name, state in (("pause", "PAUSED"), ("resume", "ACTIVE"), ("rebuild", "ACTIVE")):
        answer = client.post(f"/optimizer/cubes/{row.pk}/{name}/", {"reason": "so"})
        assert answer.status_code == 302
        row.refresh_from_db()
        assert row.state == state
    changed = client.get(f"/optimizer/cubes/{row.pk}/change/").content.decode()
    assert "kind = fact.kind" in changed
    page = client.get(f"/optimizer/cubes/{row.pk}/").content.decode()
    assert "Version 2 is not built yet" in page
    api = f"/api/v1/optimizer/cubes/{row.pk}/"
    for part in ("", "partitions/", "versions/", "builds/"):
        assert client.get(f"{api}{part}").status_code == 200, part
    assert client.get(api).json()["definition"]["dimensions"][0]["name"] == "kind"
    said: dict[str, Any] = {"content_type": "application/json"}
    dropped = client.post(f"{api}drop/", {"reason": "done with"}, **said)
    assert dropped.status_code == 202
    assert dropped.json()["state"] == "DROPPING"
    assert client.post(f"{api}drop/", {"reason": "again"}, **said).status_code == 409


def test_the_api_estimates_defines_and_changes(people: People, table: IcebergTable) -> None:
    client = client_of(people.owner)
    said: dict[str, Any] = {"content_type": "application/json"}
    where = f"/api/v1/optimizer/tables/{table.pk}/cubes/"
    body = {"name": "c", "dimensions": "kind", "measures": "price: sum"}
    asked = client.post(f"{where}estimate/", body, **said)
    assert asked.status_code == 202
    assert client.get(f"{where}estimate/{asked.json()['id']}/").json()["estimate"] in ({}, None)
    bad = client.post(f"{where}estimate/", {**body, "measures": "price"}, **said)
    assert (bad.status_code, bad.json()["code"]) == (400, "cube.definition")
    run = estimate(table)
    made = client.post(where, {"estimate": str(run.pk), "reason": "so"}, **said)
    assert made.status_code == 201, made.content
    number = made.json()["id"]
    same = client.post(
        f"/api/v1/optimizer/cubes/{number}/change/",
        {"estimate": str(run.pk), "reason": "so", "seen": 1},
        **said,
    )
    assert same.json()["code"] == "cube.same"
    assert DRAFT.name == made.json()["name"]
