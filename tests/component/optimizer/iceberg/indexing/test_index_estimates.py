"""Asking what an index would do: from the tab, by the API, and what is shown of it."""

from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.layout_advice import LEAST_SCANS
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import IcebergTable
from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
FIGURES = {
    "files_without": 100.0,
    "files_with": 1.8,
    "storage_bytes": 7_500_000.0,
    "planning_ms": 90.0,
    "saved_ms": 2400.0,
    "build_seconds": 6.0,
}
FOUND = {
    "n_files": 100,
    "n_sampled": 16,
    "refused": [{"column": "gone", "reason": "shop.clicks has no column gone."}],
    "columns": [
        {
            "column": "id",
            "type": "long",
            "kind": "bloom",
            "reason": "a filter answers points",
            "uses": ["point", "range"],
            "kinds": [
                {"kind": "bloom", "decision": "build", "reason": "it pays", "figures": FIGURES}
            ],
        },
        {"column": "note", "type": "string", "kind": "", "reason": "only nulls", "kinds": []},
    ],
}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def table(people: People) -> IcebergTable:
    listed("clicks", format="iceberg")
    columns = {"id": "long", "note": "string"}
    return iceberg("clicks", now=timezone.now(), owner=people.owner.username, columns=columns)


def test_columns_are_sampled_by_a_run_and_shown(people: People, table: IcebergTable) -> None:
    for _ in range(LEAST_SCANS):
        scanned = Scanned((Filter("note", FilterKind.CONTAINS),), 9, 0, 900, "trino")
        scan_report(table, scanned, now=timezone.now())
    client = client_of(people.owner)
    asked = client.post(
        f"/optimizer/tables/{table.pk}/indexes/estimate/", {"columns": "id, note,id"}
    )
    run = Run.objects.get(kind="optimizer.index_estimate")
    assert run.params["columns"] == ["id", "note"]
    assert run.params["uuid"] == table.uuid
    assert run.params["uses"] == {"note": ["part"]}
    waiting = client.get(asked["Location"]).content.decode()
    assert 'hx-trigger="every 3s"' in waiting
    run.state, run.finished_at, run.result = RunState.DONE, timezone.now(), FOUND
    run.save()
    shown = client.get(asked["Location"]).content.decode()
    for words in ("<strong>bloom</strong> fits", "shop.clicks has no column gone.", "None fits"):
        assert words in shown
    assert "16 of 100 data files sampled" in shown
    assert "Recorded scans of four weeks ask for it by: whole values, ranges." in shown
    answer = client.get(f"/api/v1/optimizer/tables/{table.pk}/indexes/estimate/{run.pk}/").json()
    assert answer["estimate"] == FOUND
    tab = client.get("/tables/shop/clicks/indexes/?lake=main").content.decode()
    assert asked["Location"] in tab


def test_a_failed_estimate_says_why(people: People, table: IcebergTable) -> None:
    client = client_of(people.owner)
    asked = client.post(f"/optimizer/tables/{table.pk}/indexes/estimate/", {"columns": "id"})
    run = Run.objects.get(kind="optimizer.index_estimate")
    run.state, run.finished_at = RunState.FAILED, timezone.now()
    run.error = {"code": "iceberg.gone", "message": "The table is gone."}
    run.save()
    assert "The table is gone." in client.get(asked["Location"]).content.decode()


@pytest.mark.parametrize("columns", [[], [" "], [f"c{n}" for n in range(17)]])
def test_too_few_and_too_many_columns_are_refused(
    people: People, table: IcebergTable, columns: list[str]
) -> None:
    client = client_of(people.owner)
    page = client.post(
        f"/optimizer/tables/{table.pk}/indexes/estimate/", {"columns": ",".join(columns)}
    )
    assert page.status_code == 400
    assert "Name between 1 and 16 columns" in page.content.decode()
    api = client.post(
        f"/api/v1/optimizer/tables/{table.pk}/indexes/estimate/",
        {"columns": columns or ["  "]},
        content_type="application/json",
    )
    assert api.status_code == 400
    assert not Run.objects.exists()


def test_queries_a_day_are_at_least_one(people: People, table: IcebergTable) -> None:
    api = client_of(people.owner).post(
        f"/api/v1/optimizer/tables/{table.pk}/indexes/estimate/",
        {"columns": ["id"], "queries_a_day": 0},
        content_type="application/json",
    )
    assert api.status_code == 400
    assert api.json()["code"] == "index.queries"


def test_strangers_and_other_tables_see_nothing(people: People, table: IcebergTable) -> None:
    client = client_of(people.owner)
    client.post(f"/optimizer/tables/{table.pk}/indexes/estimate/", {"columns": "id"})
    run = Run.objects.get(kind="optimizer.index_estimate")
    other = iceberg("orders", now=timezone.now(), owner=people.owner.username)
    where = "/optimizer/tables/{}/indexes/estimate/{}/"
    assert client.get(where.format(other.pk, run.pk)).status_code == 404
    assert client.get(where.format(table.pk, uuid4())).status_code == 404
    assert client_of(people.stranger).get(where.format(table.pk, run.pk)).status_code == 404
