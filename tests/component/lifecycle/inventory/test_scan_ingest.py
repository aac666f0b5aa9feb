"""A scan's result becomes the picture that readers see: whole, once, and only when it is done."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.services import ingest
from lifecycle.inventory.services.ingest import generation_load
from lifecycle.models import (
    DatabaseFinding,
    DryRunRecord,
    LatestScan,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
    TrendPoint,
)
from lifecycle.schedule.run_kinds.scan import ScanKind
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from tests.component.lifecycle.scanned import ORDERS, PICTURE, scan
from tests.support.scan_results import Finding, Item

pytestmark = pytest.mark.django_db


def test_every_row_of_the_result_stands_in_the_picture(lake: LakeConfig, now: datetime) -> None:
    generation = scan(lake, now=now)

    assert generation.state == "READY"
    assert LatestScan.objects.get(lake="main").generation == generation
    orders = TableFinding.objects.get(db="sales", table="orders")
    assert (orders.owner, orders.db_owner, orders.mode) == ("olga", "sara", "OBSERVE")
    assert (orders.n_clean_now, orders.n_soon, orders.n_still_read, orders.n_not_now) == (1,) * 4
    assert orders.class_bytes["CLEAN_NOW"] == orders.bytes_clean_now == 1_000
    assert orders.window_due_last_on is not None
    assert orders.window_due_last_on.isoformat() == "2026-11-23"
    assert DatabaseFinding.objects.get(db="web").owner == "wanda"
    assert PartitionRange.objects.filter(table=orders).count() == 4
    example = SamplePartition.objects.get(table=orders, partition="dt=2026-08-01")
    assert example.winner == "DDL"
    assert example.updated_at is not None
    assert example.updated_at.date().isoformat() == "2026-08-01"
    stray = PathFinding.objects.get(table="stray")
    assert (stray.owner, stray.db_owner) == ("paul", "sara")
    assert stray.reason_key == "|OWNER_PATH_FAIL|TBL_NOT_SUB_DB|"


def test_the_scan_writes_the_numbers_that_pages_show(lake: LakeConfig, now: datetime) -> None:
    scan(lake, now=now)

    points = dict(TrendPoint.objects.values_list("metric", "value"))
    assert points["class.CLEAN_NOW.n"] == 2
    assert points["class.CLEAN_NOW.bytes"] == 6_000
    assert points["reason.OWNER_PATH_FAIL"] == 1
    assert points["paths.nonconforming"] == 2

    scan(lake, replace(PICTURE, findings=()), now=now + timedelta(hours=1))
    again = dict(TrendPoint.objects.values_list("metric", "value"))
    assert again["paths.nonconforming"] == 0
    assert TrendPoint.objects.filter(metric="paths.nonconforming").count() == 1


def test_loading_a_result_twice_changes_nothing(lake: LakeConfig, now: datetime) -> None:
    generation = scan(lake, now=now)
    rows = set(TableFinding.objects.values_list("pk", flat=True))

    ScanKind().ingest(generation.run, {"outcome": "done", "result": generation.totals})

    assert set(TableFinding.objects.values_list("pk", flat=True)) == rows
    assert ScanSnapshot.objects.count() == 1


def test_a_load_that_died_half_way_is_done_again_from_its_start(
    lake: LakeConfig, now: datetime
) -> None:
    generation = scan(lake, now=now)
    ScanSnapshot.objects.update(state="LOADING")
    LatestScan.objects.all().delete()
    SamplePartition.objects.filter(partition="dt=2026-08-01").delete()

    generation_load(generation.run, generation.totals, now=now)

    assert SamplePartition.objects.filter(partition="dt=2026-08-01").count() == 1
    assert TableFinding.objects.count() == 3
    assert LatestScan.objects.get().generation_id == generation.pk


def test_a_failed_scan_and_a_failed_load_leave_the_last_picture(
    lake: LakeConfig, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = scan(lake, now=now)
    failed = Run.objects.create(
        lake="main", kind="lifecycle.scan", state="SETTLING", requested_by="t", queued_at=now,
        params={"now": now.isoformat()},
    )  # fmt: skip
    ScanKind().ingest(failed, {"outcome": "failed", "error": {"code": "x"}, "result": {}})
    assert LatestScan.objects.get().generation == good

    def explode(*_args: Any, **_kwargs: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(ingest, "window_load", explode)
    with pytest.raises(OSError, match="disk"):
        scan(lake, now=now + timedelta(days=1))
    assert LatestScan.objects.get().generation == good
    assert TableFinding.objects.filter(generation=good).count() == 3


def test_old_pictures_are_trimmed_and_keep_their_totals(lake: LakeConfig, now: datetime) -> None:
    first = scan(lake, now=now)
    for days in (1, 2, 3):
        scan(lake, now=now + timedelta(days=days))

    first.refresh_from_db()
    assert first.state == "TRIMMED"
    assert first.totals["n_tables"] == 3
    assert not TableFinding.objects.filter(generation=first).exists()
    assert not SamplePartition.objects.filter(table__generation=first).exists()
    assert TableFinding.objects.values("generation").distinct().count() == 2


def test_partitions_outside_their_table_are_kept_up_to_a_cap_and_counted_whole(
    lake: LakeConfig, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "EXAMPLES_PER_CLASS", 3)
    strays = tuple(
        Finding("PARTITION", "sales", "orders", f"dt={n}", ("PART_PATH_NOT_IN_TBL",))
        for n in range(10)
    )
    scan(lake, replace(PICTURE, findings=strays), now=now)

    assert PathFinding.objects.filter(kind="PARTITION").count() == 3
    assert TrendPoint.objects.get(metric="paths.nonconforming").value == 10


def test_observe_keeps_a_record_of_what_would_have_gone(lake: LakeConfig, now: datetime) -> None:
    scan(lake, now=now)
    written, soon, *rest = ORDERS.items
    used = replace(
        ORDERS,
        items=(
            replace(written, cls=ExpiryClass.NOT_NOW, updated=now),
            replace(soon, cls=ExpiryClass.CLEAN_NOW),
            *rest,
            Item(ExpiryClass.NOT_NOW, "dt=2026-11-20", now),
        ),
    )
    scan(lake, replace(PICTURE, tables=(used, *PICTURE.tables[1:])), now=now + timedelta(days=1))

    first, second = DryRunRecord.objects.filter(db="sales").order_by("day")
    assert (first.n_due, first.n_new, first.n_written_again) == (1, 1, 0)
    assert (second.n_due, second.n_new, second.n_written_again) == (1, 1, 1)
    assert second.examples == ["sales.orders dt=2026-08-01"]
    web = DryRunRecord.objects.filter(db="web").order_by("day")
    assert [(row.n_due, row.n_new) for row in web] == [(1, 1), (1, 0)]


def test_an_empty_lake_is_a_picture_too(lake: LakeConfig, now: datetime) -> None:
    generation = scan(lake, replace(PICTURE, owners={}, tables=(), findings=()), now=now)

    assert generation.state == "READY"
    assert not TableFinding.objects.exists()
