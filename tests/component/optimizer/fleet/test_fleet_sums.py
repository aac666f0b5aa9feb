"""Reports become sums of their lake: scans, what indexes and cubes dropped, and query times."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Sum
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.cubes.services.uses import CubeReader, ReportedAnswers
from optimizer.fleet.selectors import fleet_scans
from optimizer.iceberg.indexing.services.uses import ReportedUse
from optimizer.iceberg.tables.services.lake_sums import KEPT_DAYS, SLOTS
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import IcebergTable, QuerySeconds, ScanDay, ScanFilter, SkippedDay
from optimizer.queries.domain.latency import quantile
from optimizer.queries.services.taking import trino_query_report
from optimizer.usage.services import ReportMark, TableUse, uses_report
from tests.component.conftest import People
from tests.component.optimizer.cubes.cube_rows import cube
from tests.component.optimizer.optimizer_rows import MIB, iceberg
from tests.golden.trino import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
BY_ID = (Filter("id", FilterKind.EQUAL),)
SENDER = ReportMark(UUID("0e0e0e0e-0000-4000-8000-000000000001"), 1)
READER = CubeReader("spark")


def sums() -> dict[str, int]:
    names = ("n_scans", "n_files", "n_bytes", "n_skipped", "skipped_bytes", "n_unsized")
    found = ScanDay.objects.aggregate(**{name: Sum(name) for name in names})
    return {name: n or 0 for name, n in found.items()}


def scanned(files: int = 3, skipped: int = 9) -> Scanned:
    return Scanned(BY_ID, files, skipped, files * MIB, "spark")


def answers(name: str = "by_kind", n_bytes: int = 2_000) -> ReportedAnswers:
    return ReportedAnswers(
        name, n_queries=2, n_rows=9, n_bytes=n_bytes, n_fresh_rows=0, n_cube_rows=1, n_cube_bytes=1
    )


def test_a_scan_is_in_the_sums_of_its_table_and_its_lake(people: People) -> None:
    now = timezone.now()
    table, other = iceberg("clicks", now=now), iceberg("views", now=now, n_files=None)
    empty = iceberg("none", now=now, n_files=0, n_bytes=0)
    for row in (table, table, other, empty):
        scan_report(row, scanned(), now=now)
    # Of 100 files with 640 MiB nine were left out, twice; of the others no size is known.
    assert sums() == {
        "n_scans": 4,
        "n_files": 12,
        "n_bytes": 12 * MIB,
        "n_skipped": 36,
        "skipped_bytes": 2 * (9 * 64 * MIB // 10),
        "n_unsized": 18,
    }
    assert ScanFilter.objects.filter(column="").aggregate(n=Sum("n_scans"))["n"] == 4
    assert ScanDay.objects.count() == SLOTS
    iceberg("far", now=now, lake="other")
    scan_report(IcebergTable.objects.get(table="far"), scanned(), now=now)
    (day,) = [
        one for one in fleet_scans("main", people.admin, n_days=7, now=now).days if one.n_scans
    ]
    assert (day.n_scans, day.n_unsized) == (4, 18)


def test_queries_of_trino_are_in_the_sums_once_with_their_times(people: People) -> None:
    now = timezone.now()
    for name in ("ev", "dim"):
        iceberg(name, now=now, owner="olga", n_files=9, n_bytes=90_000, columns={})
    for _ in range(2):
        for one in events():
            trino_query_report("main", one, catalog="lake", user=people.owner, now=now)
    of_tables = ScanFilter.objects.filter(column="").aggregate(
        n_scans=Sum("n_scans"), n_files=Sum("n_files"), n_bytes=Sum("n_bytes")
    )
    found = sums()
    assert {name: found[name] for name in of_tables} == of_tables
    assert found["skipped_bytes"] == found["n_skipped"] * 10_000 > 0
    kept = QuerySeconds.objects.get()
    took = sorted(
        one["statistics"]["wallTime"]
        for one in events()
        if one["metadata"]["queryState"] == "FINISHED" and _reads(one)
    )
    assert (kept.engine, sum(kept.counts.values())) == ("trino", len(took))
    assert quantile(kept.counts, 1.0) == pytest.approx(took[-1], rel=0.05)


def _reads(one: dict[str, Any]) -> bool:
    inputs = one["ioMetadata"].get("inputs", ())
    kind = one["context"].get("queryType")
    return kind in {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"} and any(
        each["connectorName"] == "iceberg" and "$" not in each["table"] for each in inputs
    )


def test_what_a_stranger_s_query_took_is_nowhere(people: People) -> None:
    now = timezone.now()
    iceberg("ev", now=now, owner="olga")
    for one in events():
        trino_query_report("main", one, catalog="lake", user=people.stranger, now=now)
    assert (sums()["n_scans"], QuerySeconds.objects.count()) == (0, 0)


def test_what_indexes_and_cubes_dropped_is_summed_by_cause_and_once(people: People) -> None:
    now = timezone.now()
    table = iceberg("clicks", now=now, owner="olga")
    table.index_coverage.create(
        field_id=1, column="id", wanted="bloom", place=0, n_files=1, n_covered=1, n_refused=0,
        n_rows=1, n_bytes=1, at=now,
    )  # fmt: skip
    cube(table, now=now)
    uses = TableUse(
        table.uuid,
        (
            ReportedUse("id", "bloom", 2, 30, 3_000),
            ReportedUse("id", "bitmap", 1, 4, 400),
            ReportedUse("nowhere", "bloom", 9, 9, 9),
        ),
        (answers(), answers("nowhere"), answers(n_bytes=500)),
    )
    for again in (False, True):
        taken = uses_report("main", [uses], reader=READER, mark=SENDER, user=people.owner, now=now)
        assert taken.repeated is again
    found = SkippedDay.objects.order_by("cause").values_list("cause")
    added = found.annotate(Sum("n_times"), Sum("n_files"), Sum("n_bytes"))
    assert list(added) == [
        ("bitmap", 1, 4, 400),
        ("bloom", 2, 30, 3_000),
        ("cubes", 4, 0, 2_500),
    ]
    day = fleet_scans("main", people.operator, n_days=7, now=now).days[-1]
    assert dict(day.skipped) == {"bitmap": 400, "bloom": 3_000, "cubes": 2_500}


def test_old_days_are_forgotten(people: People) -> None:
    now = timezone.now()
    table = iceberg("clicks", now=now, owner="olga")
    for days in (KEPT_DAYS + 1, KEPT_DAYS - 1, 0):
        scan_report(table, scanned(), now=now - timedelta(days=days))
    kept = ScanDay.objects.values_list("day", flat=True).distinct().order_by("-day")
    assert [(now.date() - day).days for day in kept] == [0, KEPT_DAYS - 1]


def test_an_engine_that_lies_makes_no_sum_too_great(people: People) -> None:
    now = timezone.now()
    table = iceberg("clicks", now=now)
    for _ in range(4):
        scan_report(table, Scanned(BY_ID, 2**63 - 1, 2**63 - 1, 2**63 - 1, ""), now=now)
    assert 2**59 <= sums()["n_bytes"] < 2**63
