"""The rows of a lake of Iceberg tables, as the optimizer's room holds them after a day of commits.

Every number is made of the row's own, so the rows are the same each time. What a partition needs
differs: many small files, few, large ones, too dear ones.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import connection

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.models import (
    Commit,
    HealthPoint,
    IcebergTable,
    OptimizeTask,
    PartitionHealth,
    PolicyVersion,
)
from tests.support.many_rows import later, make_room, multiply, rest, text, whole

LAKE, OWNER, OWNED = "main", "olga", 40
MIB = 1024**2
TABLES_A_DB = 50
COMMITS, POINTS, ENDED = 20, 24, 10  # of each table
SNAPSHOT = 7
_MADE = f"{MIB} * (1 + n %% 40)"  # bytes of a small file
_SMALL = "(n * 31) %% 40"  # small files of partition n
_LARGE = "(n * 17) %% 12"  # its files of the target's size
TARGET = 128 * MIB
SMALL_FILES = {"part": "small files", "points": 42.0, "reason": "90 of 100 files are small."}
ONE_COMMIT = {
    "snapshot_id": 9001,
    "n_removed": 40,
    "n_added": 1,
    "bytes_removed": 400 * MIB,
    "bytes_added": 400 * MIB,
}


def fill(*, n_tables: int, n_partitions: int, now: datetime) -> None:
    """Make the rows of a lake whose tables were all looked at and on none of which is decided."""
    make_room()
    _tables(n_tables, n_partitions, now)
    _partitions(n_tables, n_partitions, now)
    _history(n_tables, now)
    PolicyVersion.objects.bulk_create(_policies(n_tables, now))
    if connection.vendor == "mysql":
        # Rows that came one by one would have been counted long ago.
        names = (IcebergTable, PartitionHealth, Commit, HealthPoint, OptimizeTask, PolicyVersion)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE TABLE " + ", ".join(one._meta.db_table for one in names))
            cursor.fetchall()


def _tables(n_tables: int, n_partitions: int, now: datetime) -> None:
    like = IcebergTable(
        lake=LAKE,
        db="",
        table="",
        uuid="",
        owner="",
        location="hdfs://lake/warehouse",
        metadata_location="hdfs://lake/warehouse/metadata/00007.json",
        snapshot_id=SNAPSHOT,
        format_version=2,
        event_at=now - timedelta(minutes=3),
        committed_at=now - timedelta(minutes=3),
        inspected_at=now - timedelta(minutes=1),
        looked_snapshot_id=SNAPSHOT,
        n_delete_files=0,
        n_rows=1_000_000,
        n_manifests=12,
        n_snapshots=30,
        n_partitions=n_partitions,
        columns={"id": "long", "at": "timestamp"},
        partition_spec="day(at)",
        deductions=[SMALL_FILES],
        small_bytes=900 * MIB,
    )
    other = text("'u'", rest("n", 100))
    multiply(
        like,
        first=1,
        last=n_tables,
        id="n",
        db=text("'db'", whole("n - 1", TABLES_A_DB)),
        table=text("'t'", "n"),
        uuid=text("'uuid-'", "n"),
        owner=f"CASE WHEN n <= {OWNED} THEN '{OWNER}' ELSE {other} END",
        committed_at=later(now - timedelta(days=1), "n"),
        n_files=f"{n_partitions} * (10 + (n * 31) %% 60)",
        n_bytes=f"{n_partitions} * (10 + (n * 31) %% 60) * {10 * MIB}",
        health="(n * 37) %% 101",
        n_small="(n * 31) %% 400",
    )


def _partitions(n_tables: int, n_partitions: int, now: datetime) -> None:
    like = PartitionHealth(
        snapshot_id=SNAPSHOT,
        spec_id=0,
        n_rows=100_000,
        n_big=0,
        n_pos_delete_files=0,
        n_pos_deleted_rows=0,
        n_eq_delete_files=0,
        n_eq_deleted_rows=0,
        n_dvs=0,
        squared_error=0.6,
        n_laid_out=0,
        laid_out_bytes=0,
        newest_commit_at=now - timedelta(minutes=3),
        deductions=[SMALL_FILES],
        sizes=[10, 12, 5, 3],
    )
    multiply(
        like,
        first=1,
        last=n_tables * n_partitions,
        table_id=f"{whole('n - 1', n_partitions)} + 1",
        digest=text("'digest-'", "n"),
        partition=text("'at_day=2026-11-'", rest("n", n_partitions)),
        n_files=f"{_SMALL} + {_LARGE}",
        n_bytes=f"({_SMALL}) * {_MADE} + ({_LARGE}) * {TARGET}",
        n_small=_SMALL,
        small_bytes=f"({_SMALL}) * {_MADE}",
        two_smallest_bytes=f"2 * {_MADE}",
        health="(n * 37) %% 101",
    )


def _history(n_tables: int, now: datetime) -> None:
    commit = Commit(
        parent_id=6, at=now, event_at=now, operation="append", n_added=5, source="event"
    )
    point = HealthPoint(at=now, n_files=300, n_small=90, n_bytes=640 * MIB, n_delete_files=0)
    task = OptimizeTask(
        kind=TaskKind.MINOR,
        state=TaskState.DONE,
        is_open=None,
        reason="90 of 100 files are below 96 MiB.",
        score=3.5,
        partitions=["at_day=2026-11-1"],
        target_bytes=TARGET,
        estimate={"n_files_read": 90, "n_files_written": 2, "bytes_read": 400 * MIB},
        created_at=now,
        started_at=now,
        outcome="90 files became 2.",
        before={"n_files": 100},
        after={"n_files": 12},
        commits=[ONE_COMMIT],
        seconds=12.5,
    )
    # A look an hour: one table has one point at an instant.
    hours = f"{whole('n', n_tables)} * 3600"
    inspected_at = later(now - timedelta(days=2), hours)
    month = timedelta(days=30)
    ended_at = later(now - month, f"(n * 7919) %% {int(month.total_seconds())}")
    committed_at = later(now - timedelta(hours=20), "n %% 70000")
    for like, each, differing in (
        (commit, COMMITS, {"snapshot_id": "n", "at": committed_at}),
        (point, POINTS, {"snapshot_id": "n", "health": "(n * 37) %% 101", "at": inspected_at}),
        (task, ENDED, {"ended_at": ended_at}),
    ):
        owner = f"{rest('n', n_tables)} + 1"
        multiply(like, first=1, last=n_tables * each, table_id=owner, **differing)


def _policies(n_tables: int, now: datetime) -> Iterator[PolicyVersion]:
    """On for the lake; some databases, patterns and tables differ in one thing each."""
    said: dict[str, dict[str, object]] = {"*": {"is_on": True, "target_bytes": TARGET}}
    said |= {f"db{n}": {"min_interval_minutes": 30 + n} for n in range(20)}
    said |= {f"db{n}*": {"keep_snapshots": 20} for n in range(1, 10)}
    said |= {f"db{n}.t*{n % 10}": {"manifests": 50 + n} for n in range(20, 40)}
    step = max(1, n_tables // 50)
    named = ((n, (n - 1) // TABLES_A_DB) for n in range(1, n_tables + 1, step))
    said |= {f"db{db}.t{n}": {"caution": "low"} for n, db in named}
    for scope, values in said.items():
        yield PolicyVersion(
            lake=LAKE, scope=scope, version=1, values=values, by="ada", at=now, reason="bench"
        )
