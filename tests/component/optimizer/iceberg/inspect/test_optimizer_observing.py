"""What becomes of a look at tables: shown whole, repeated without harm, due again when it must."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from optimizer.iceberg.inspect.run_kinds import KIND, ObserveKind, look_ask
from optimizer.iceberg.inspect.services.inspection import (
    RETRY,
    inspections_ingest,
    inspections_request,
)
from optimizer.models import Commit, HealthPoint, IcebergTable, LayoutWrite, PartitionHealth
from portal.connectors.lake_config import LakeConfig
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from tests.component.conftest import LAKE, NOW
from tests.component.optimizer.iceberg.looked_tables import (
    MIB,
    TARGET,
    Looked,
    commit,
    iceberg_table,
    micros,
    partition,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=3)


@pytest.fixture
def kind() -> ObserveKind:
    found = get_kind(KIND)
    assert isinstance(found, ObserveKind)
    return found


def rows_of(table: IcebergTable) -> dict[str, PartitionHealth]:
    return {row.partition: row for row in PartitionHealth.objects.filter(table=table)}


def taken_in(looked: Looked, *, now: datetime = LATER) -> list[str]:
    decided: list[str] = []

    def decide(lake: str, *, now: datetime) -> None:
        decided.append(lake)

    inspections_ingest(looked.run, looked.manifest(), now=now, decide=decide)
    return decided


def test_a_look_shows_partitions_table_trend_and_commits(lake: LakeConfig) -> None:
    table = iceberg_table(columns={"a": "long"})
    Commit.objects.create(table=table, snapshot_id=6, at=NOW, event_at=NOW, source="event")
    looked = Looked(lake, table)
    parts = [
        partition("dt=1", *[MIB] * 100, newest_commit_us=micros(NOW)),
        partition("dt=2", TARGET, TARGET),
    ]
    looked.found(table, parts, commits=[commit(7), commit(6, operation="overwrite")])

    assert taken_in(looked) == [LAKE]

    table.refresh_from_db()
    rows = rows_of(table)
    assert sorted(rows) == ["dt=1", "dt=2"]
    assert rows["dt=2"].health == 100
    assert rows["dt=1"].health < 40
    assert rows["dt=1"].newest_commit_at == NOW
    assert rows["dt=1"].deductions[0]["part"] == "small files"
    assert sum(rows["dt=1"].sizes) == 100
    assert {row.snapshot_id for row in rows.values()} == {7}
    assert (table.looked_snapshot_id, table.inspected_at, table.inspect_due_at) == (7, LATER, None)
    assert (table.n_files, table.n_small, table.n_partitions) == (102, 100, 2)
    assert (table.n_manifests, table.n_snapshots, table.format_version) == (3, 5, 2)
    assert table.health is not None
    assert 90 < table.health < 100
    assert sum(one["points"] for one in table.deductions) == pytest.approx(100 - table.health)
    point = HealthPoint.objects.get(table=table)
    assert (point.at, point.health, point.n_files) == (NOW, table.health, 102)
    told = {
        row.snapshot_id: (row.source, row.operation, row.sequence) for row in table.commits.all()
    }
    assert told == {7: ("look", "append", 7), 6: ("event", "overwrite", 6)}


def test_taken_in_twice_it_is_the_same(lake: LakeConfig) -> None:
    table = iceberg_table()
    looked = Looked(lake, table)
    looked.found(table, [partition("dt=1", MIB)], commits=[commit(7)])

    def picture() -> list[Any]:
        models = (IcebergTable, PartitionHealth, HealthPoint, Commit)
        return [list(model._default_manager.order_by("pk").values()) for model in models]

    taken_in(looked)
    first = picture()
    taken_in(looked)
    second = picture()
    for row in (*first[1], *second[1]):
        row.pop("id")
    assert second == first


def test_rows_of_the_look_before_go_and_what_was_known_of_writers_stays(lake: LakeConfig) -> None:
    table = iceberg_table()
    before = Looked(lake, table)
    old = [partition("dt=1", MIB, newest_commit_us=micros(NOW)), partition("dt=0", MIB)]
    before.found(table, old)
    taken_in(before)
    after = Looked(lake, table, requested_at=LATER)
    rewritten = partition("dt=1", TARGET, newest_rewrite_us=micros(LATER))
    new = partition("dt=2", TARGET, newest_rewrite_us=micros(LATER))
    older = partition("dt=3", TARGET)
    long_ago = NOW - timedelta(days=5)
    after.found(table, [rewritten, new, older], snapshot_id=8, oldest_at=long_ago)
    taken_in(after)
    rows = rows_of(table)
    assert {row.snapshot_id for row in rows.values()} == {8}
    assert {name: row.newest_commit_at for name, row in rows.items()} == {
        "dt=1": NOW,
        "dt=2": LATER,
        "dt=3": long_ago,
    }


def test_a_table_stays_due_when_something_newer_was_heard_meanwhile(lake: LakeConfig) -> None:
    heard = iceberg_table("heard", snapshot_id=9, event_at=NOW + timedelta(seconds=1))
    seen = iceberg_table("seen", snapshot_id=7, event_at=NOW + timedelta(seconds=1))
    quiet = iceberg_table("quiet", snapshot_id=6)
    looked = Looked(lake, heard, seen, quiet)
    for table in (heard, seen, quiet):
        looked.found(table, [partition("", MIB)])
    taken_in(looked)
    due = dict(IcebergTable.objects.values_list("table", "inspect_due_at"))
    assert due == {"heard": NOW, "seen": None, "quiet": None}
    assert IcebergTable.objects.get(table="heard").n_files is None
    assert set(IcebergTable.objects.values_list("looked_snapshot_id", flat=True)) == {7}


def test_an_empty_table_is_healthy(lake: LakeConfig) -> None:
    table = iceberg_table(snapshot_id=None)
    looked = Looked(lake, table)
    looked.found(table, [], snapshot_id=None)
    taken_in(looked)
    table.refresh_from_db()
    assert (table.health, table.inspect_due_at, table.inspected_at) == (100, None, LATER)
    assert "no files" in table.deductions[0]["reason"]


def test_failures_are_said_and_what_is_gone_is_gone(lake: LakeConfig) -> None:
    broken, gone, missed = (iceberg_table(name) for name in ("broken", "gone", "missed"))
    looked = Looked(lake, broken, gone, missed, requested_at=NOW + timedelta(seconds=1))
    looked.failed = [
        {"table_id": broken.pk, "code": "look.unreadable", "reason": "A manifest is missing."},
        {"table_id": gone.pk, "code": "iceberg.gone", "reason": "It is gone."},
    ]
    taken_in(looked)
    for row in (broken, gone, missed):
        row.refresh_from_db()
    assert (broken.inspection_error, broken.inspect_due_at) == (
        "A manifest is missing.",
        LATER + RETRY,
    )
    assert (gone.is_deleted, gone.inspect_due_at, gone.inspection_error) == (
        True,
        None,
        "It is gone.",
    )
    assert (missed.inspection_error, missed.inspect_due_at) == ("", LATER + RETRY)


def test_a_run_that_died_puts_its_tables_off_so_that_others_come(
    lake: LakeConfig, kind: ObserveKind
) -> None:
    table, other = iceberg_table("one"), iceberg_table("two")
    looked = Looked(lake, table)
    inspections_ingest(looked.run, looked.manifest("failed"), now=LATER)
    Run.objects.update(finished_at=LATER)
    assert kind.scheduled_params(LAKE, now=LATER) == {"tables": [other.pk]}


def test_results_that_are_not_whole_are_not_shown(lake: LakeConfig) -> None:
    table = iceberg_table()
    looked = Looked(lake, table)
    looked.found(table, [partition("dt=1", MIB)], n_partitions=2)
    taken_in(looked)
    table.refresh_from_db()
    assert table.inspected_at is None
    assert "1 of them could be read" in table.inspection_error
    assert table.inspect_due_at == LATER + RETRY


def test_looks_are_asked_for_only_where_due_and_one_run_at_a_time(
    lake: LakeConfig, kind: ObserveKind
) -> None:
    assert kind.scheduled_params(LAKE, now=NOW) is None
    assert look_ask(LAKE, by="ada", now=NOW) is None
    iceberg_table("gone", is_deleted=True)
    iceberg_table("later", inspect_due_at=LATER)
    iceberg_table("quiet", inspect_due_at=None)
    late = iceberg_table("late", inspect_due_at=NOW - timedelta(minutes=1))
    due = iceberg_table("due")
    assert kind.scheduled_params(LAKE, now=NOW) == {"tables": [late.pk, due.pk]}
    run = look_ask(LAKE, by="ada", now=NOW)
    assert run is not None
    assert look_ask(LAKE, by="ada", now=NOW) == run
    assert kind.scheduled_params(LAKE, now=NOW) is None


def test_a_run_takes_a_bounded_number_of_tables(
    lake: LakeConfig, kind: ObserveKind, settings: Any
) -> None:
    settings.LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN = 7
    for n in range(8):
        iceberg_table(f"t{n}")
    params = kind.scheduled_params(LAKE, now=NOW)
    assert params is not None
    assert len(params["tables"]) == 7


def test_the_job_is_told_what_each_table_is_held_to(lake: LakeConfig) -> None:
    table = iceberg_table(looked_snapshot_id=5)
    LayoutWrite.objects.create(table=table, write_id="w", layout="sort(a)", snapshot_id=1, at=NOW)
    [asked] = inspections_request(LAKE, [table.pk], now=NOW)
    assert asked == {
        "table_id": table.pk,
        "db": "etl",
        "table": "events",
        "uuid": "uuid-events",
        "looked_snapshot_id": 5,
        "target_bytes": TARGET,
        "layout": "",
        "write_ids": [],
        "old_writes": [],
    }


def test_the_trend_keeps_a_point_each_ten_minutes(lake: LakeConfig) -> None:
    table = iceberg_table()
    for minute in range(0, 40, 4):
        looked = Looked(lake, table, requested_at=NOW + timedelta(minutes=minute))
        looked.found(table, [partition("", MIB)])
        taken_in(looked)
    points = HealthPoint.objects.filter(table=table).order_by("at")
    minutes = [(at - NOW).seconds // 60 for at in points.values_list("at", flat=True)]
    assert minutes[0] == 0
    assert minutes[-1] == 36
    assert len(minutes) <= 6


def test_the_trend_keeps_each_fall_and_return_of_a_table_that_is_looked_at_each_minute(
    lake: LakeConfig,
) -> None:
    table = iceberg_table()
    good, ill = [TARGET], [MIB] * 100
    for minute, sizes in enumerate([good, good, good, ill, ill, good, good, ill, good, good]):
        looked = Looked(lake, table, requested_at=NOW + timedelta(minutes=minute))
        looked.found(table, [partition("", *sizes)], snapshot_id=minute)
        taken_in(looked)
    points = HealthPoint.objects.filter(table=table).order_by("at")
    assert [point.health > 90 for point in points] == [True, False, True, False, True, True]
    assert list(points.values_list("n_files", flat=True)) == [1, 100, 1, 100, 1, 1]


def test_many_partitions_are_taken_in_with_few_statements(lake: LakeConfig) -> None:
    table = iceberg_table()
    few, many = Looked(lake, table), Looked(lake, table, requested_at=LATER)
    few.found(table, [partition(f"dt={n}", MIB) for n in range(10)])
    many.found(table, [partition(f"dt={n}", MIB) for n in range(3_000)], snapshot_id=8)

    def n_statements(looked: Looked) -> int:
        with CaptureQueriesContext(connection) as caught:
            taken_in(looked)
        return len(caught)

    # SQLite takes some forty rows a statement, MariaDB a whole chunk.
    n_few = n_statements(few)
    assert n_statements(many) < n_few + 3_000 / 30
    assert PartitionHealth.objects.count() == 3_000


def test_old_writes_of_which_no_file_is_left_are_forgotten(lake: LakeConfig) -> None:
    table, other = iceberg_table(), iceberg_table("other")
    old = NOW - timedelta(days=91)

    def write(write_id: str, layout: str, at: datetime, of: IcebergTable = table) -> None:
        LayoutWrite.objects.create(table=of, write_id=write_id, layout=layout, snapshot_id=1, at=at)

    def asked() -> dict[int, list[str]]:
        rows = inspections_request(LAKE, [table.pk, other.pk], now=LATER)
        return {row["table_id"]: sorted(row["old_writes"]) for row in rows}

    for name in ("lost", "kept", "not searched"):
        write(name, "sort(a)", old)
    write("young", "sort(a)", NOW)
    write("of another layout", "sort(b)", old)
    write("plain", "", old)
    write("plain too", "", old)
    write("lost", "sort(a)", old, other)
    write("its last", "sort(a)", old, other)
    assert asked() == {table.pk: ["kept", "lost", "not searched", "plain"], other.pk: ["lost"]}

    looked = Looked(lake, table, other)
    # The young one, and the last of its layout, would not be asked for; said so, they stay too.
    unused = dict.fromkeys(("lost", "young", "of another layout", "unknown"), False)
    looked.found(table, [partition("", MIB)], writes={**unused, "kept": True})
    looked.found(other, [partition("", MIB)])
    for _ in range(2):
        taken_in(looked)
        left = set(LayoutWrite.objects.values_list("table__table", "write_id"))
        assert left == {
            *(("events", one) for one in ("kept", "not searched", "young")),
            *(("events", one) for one in ("of another layout", "plain", "plain too")),
            *(("other", one) for one in ("lost", "its last")),
        }
    assert asked() == {table.pk: ["not searched", "plain"], other.pk: ["lost"]}
    week_after = inspections_request(LAKE, [table.pk], now=LATER + timedelta(days=8))
    assert set(week_after[0]["old_writes"]) == {"kept", "not searched", "plain"}
