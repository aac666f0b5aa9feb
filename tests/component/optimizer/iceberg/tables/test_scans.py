"""Engines report scans; the tab and the API show how a table is filtered."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.iceberg.tables.services.scans import KEPT_DAYS
from optimizer.models import IcebergTable, ScanFilter
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from stack.demo_days import Progress
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/namespaces/shop/tables/clicks/metrics"
PAGE = "/tables/shop/clicks/scans/?lake=main"
ID = {"type": "eq", "term": "id", "value": "(1-digit-int)"}
NOTE = {"type": "starts-with", "term": "note", "value": "(hash-6132d65f)"}
STRANGE = {"type": "eq", "term": "no_such_column", "value": "(1-digit-int)"}


@pytest.fixture
def table(lake: LakeConfig) -> IcebergTable:
    """A table of olga's with three columns."""
    row = iceberg(now=timezone.now())
    row.columns = {"id": "long", "Note": "string", "n": "struct<a:int>"}
    row.save()
    listed("clicks", format="iceberg")
    return row


def report(expression: object, files: int = 3, skipped: int = 9) -> dict[str, Any]:
    return {
        "report-type": "scan-report",
        "table-name": "lake.shop.clicks",
        "snapshot-id": 7,
        "filter": expression,
        "metrics": {
            "result-data-files": {"unit": "count", "value": files},
            "skipped-data-files": {"unit": "count", "value": skipped},
            "total-file-size-in-bytes": {"unit": "bytes", "value": 1000 * files},
        },
        "metadata": {"engine-name": "spark"},
    }


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def send(user: User, body: Any) -> Any:
    return client_of(user).post(ADDRESS, json.dumps(body), content_type="application/json")


def test_scans_are_summed_by_column_and_kind_and_shown(people: People, table: IcebergTable) -> None:
    owner = client_of(people.owner)
    assert "No engine has reported a scan" in owner.get(PAGE).content.decode()
    for _ in range(2):
        assert (
            send(people.owner, report({"type": "and", "left": ID, "right": NOTE})).status_code
            == 204
        )
    assert send(people.owner, report(ID, files=1, skipped=0)).status_code == 204
    assert send(people.owner, report(True, files=12, skipped=0)).status_code == 204
    said = owner.get(f"/api/v1/optimizer/tables/{table.pk}/scans/").json()
    keys = ("column", "kind", "n_scans", "n_files", "n_skipped", "n_bytes")
    assert [tuple(one[key] for key in keys) for one in said["filters"]] == [
        ("", "", 4, 19, 18, 19_000),
        ("id", "=", 3, 7, 18, 7000),
        ("note", "prefix", 2, 6, 18, 6000),
    ]
    text = owner.get(PAGE).content.decode()
    assert "4 scans planned to read" in text
    assert "left out 49 % of the files" in text
    assert "72 %" in text
    assert ">Scans<" in owner.get("/tables/shop/clicks/?lake=main").content.decode()


def test_while_a_day_is_played_scans_count_as_of_that_day(
    people: People, table: IcebergTable, settings: Any, tmp_path: Path
) -> None:
    settings.LAKEWARDEN_DEMO_PROGRESS = str(tmp_path / "played.json")
    Progress(tmp_path / "played.json", n_days=9).begin(4, days_ago=5)
    assert send(people.owner, report(ID)).status_code == 204
    assert send(people.owner, report(True)).status_code == 204
    (day,) = set(ScanFilter.objects.values_list("day", flat=True))
    assert day == (timezone.now() - timedelta(days=5)).date()


def test_what_is_no_column_of_the_table_is_left_out(people: People, table: IcebergTable) -> None:
    nested = {"type": "lt", "term": "n.a", "value": "(1-digit-int)"}
    assert (
        send(people.owner, report({"type": "and", "left": STRANGE, "right": nested})).status_code
        == 204
    )
    assert set(ScanFilter.objects.values_list("column", flat=True)) == {"", "n.a"}


def test_before_its_columns_are_known_any_name_counts_but_not_any_number(
    people: People, table: IcebergTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    IcebergTable.objects.update(columns={})
    monkeypatch.setattr("optimizer.iceberg.tables.services.scans.MOST_A_DAY", 3)
    for number in range(5):
        named = {"type": "eq", "term": f"c{number}", "value": "(1-digit-int)"}
        assert send(people.owner, report(named)).status_code == 204
    assert send(people.owner, report({**ID, "term": "c0"})).status_code == 204
    found = dict(ScanFilter.objects.values_list("column", "n_scans"))
    assert found == {"": 6, "c0": 2, "c1": 1}


def test_old_sums_are_forgotten_and_not_shown(people: People, table: IcebergTable) -> None:
    now = timezone.now()
    for days in (30, KEPT_DAYS + 2):
        ScanFilter.objects.create(
            table=table, column="id", kind="IN", day=now.date() - timedelta(days=days), last_at=now
        )
    send(people.owner, report(ID))
    assert ScanFilter.objects.filter(kind="IN").count() == 1
    assert ">IN<" not in client_of(people.owner).get(PAGE).content.decode()


def test_a_scan_of_all_rows_says_that_nothing_was_filtered(
    people: People, table: IcebergTable
) -> None:
    send(people.owner, report(True, files=0, skipped=0))
    text = client_of(people.owner).get(PAGE).content.decode()
    assert "No filter was reported" in text
    assert "1 scan planned to read" in text


@pytest.mark.parametrize(
    "wrong", [{"type": "run"}, {"type": "eq", "term": 5}, [ID], "x", {"type": "and", "left": ID}]
)
def test_a_filter_that_is_none_is_refused_and_nothing_is_kept(
    people: People, table: IcebergTable, wrong: object
) -> None:
    answer = send(people.owner, report(wrong))
    assert (answer.status_code, answer.json()["code"]) == (400, "advice.report")
    assert not ScanFilter.objects.exists()


def test_who_does_not_see_the_table_adds_and_sees_nothing(
    people: People, table: IcebergTable
) -> None:
    assert send(people.stranger, report(ID)).status_code == 404
    send(people.owner, report(ID))
    stranger = client_of(people.stranger)
    assert stranger.get(PAGE).status_code == 404
    assert stranger.get(f"/api/v1/optimizer/tables/{table.pk}/scans/").status_code == 404


def test_a_sum_never_grows_beyond_what_the_database_holds(
    people: People, table: IcebergTable
) -> None:
    for _ in range(3):
        assert send(people.owner, report(ID, files=2**61, skipped=2**62)).status_code == 204
    assert ScanFilter.objects.get(column="id").n_skipped < 2**63
