"""Rows that tests of the optimizer room begin with: tables, partitions, commits, tasks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

from optimizer.core.domain.tasks import FINAL, TaskKind, TaskState
from optimizer.models import Commit, HealthPoint, IcebergTable, OptimizeTask, PartitionHealth

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
MIB = 1024**2
SMALL = {"part": "small files", "points": 42.0, "reason": "90 of 100 files are small."}


def iceberg(name: str = "clicks", *, now: datetime = NOW, **values: Any) -> IcebergTable:
    """A table of olga that was looked at after its last commit."""
    fields = {
        "lake": "main",
        "db": "shop",
        "owner": "olga",
        "uuid": str(uuid4()),
        "location": f"file:/lake/{name}",
        "snapshot_id": 7,
        "format_version": 2,
        "event_at": now,
        "committed_at": now - timedelta(minutes=2),
        "n_files": 100,
        "n_bytes": 640 * MIB,
        "n_rows": 1_000_000,
        "n_delete_files": 3,
        "inspected_at": now - timedelta(minutes=1),
        "looked_snapshot_id": 7,
        "n_manifests": 12,
        "n_snapshots": 30,
        "n_partitions": 2,
        "columns": {"id": "long", "at": "timestamp"},
        "partition_spec": "day(at)",
        "health": 58.0,
        "deductions": [SMALL],
        "n_small": 90,
        "small_bytes": 90 * MIB,
        "decided_at": now,
        "decision": "90 small files become 2.",
        "score": 3.5,
    }
    return IcebergTable.objects.create(table=name, **{**fields, **values})


def partition(
    of: IcebergTable, name: str, *, health: float = 58.0, snapshot_id: int = 7, **values: Any
) -> PartitionHealth:
    """A partition of a hundred files, ninety of them small."""
    fields = {
        "spec_id": 0,
        "n_files": 100,
        "n_bytes": 640 * MIB,
        "n_rows": 500_000,
        "n_small": 90,
        "small_bytes": 90 * MIB,
        "n_big": 0,
        "two_smallest_bytes": 2 * MIB,
        "n_pos_delete_files": 2,
        "n_pos_deleted_rows": 10,
        "n_eq_delete_files": 1,
        "n_eq_deleted_rows": 5,
        "n_dvs": 0,
        "squared_error": 0.8,
        "n_laid_out": 10,
        "laid_out_bytes": 550 * MIB,
        "newest_commit_at": of.committed_at,
        "deductions": [SMALL],
        "sizes": [50, 40, 0, 10],
    }
    return PartitionHealth.objects.create(
        table=of,
        snapshot_id=snapshot_id,
        digest=sha256(f"{name}{values.get('spec_id', 0)}".encode()).hexdigest(),
        partition=name,
        health=health,
        **{**fields, **values},
    )


def looks(of: IcebergTable, healths: Sequence[float], *, now: datetime = NOW) -> None:
    """One look a minute, the last of them now."""
    HealthPoint.objects.bulk_create(
        HealthPoint(
            table=of,
            at=now - timedelta(minutes=len(healths) - 1 - place),
            snapshot_id=place,
            health=health,
            n_files=100 + place,
            n_small=90 + place,
            n_bytes=640 * MIB,
            n_delete_files=3,
        )
        for place, health in enumerate(healths)
    )


def commit(of: IcebergTable, snapshot_id: int, *, at: datetime, **values: Any) -> Commit:
    """A writer's append of five files."""
    fields = {
        "parent_id": snapshot_id - 1,
        "sequence": snapshot_id,
        "event_at": at,
        "operation": "append",
        "n_added": 5,
        "bytes_added": 5 * MIB,
        "source": "event",
    }
    return Commit.objects.create(table=of, snapshot_id=snapshot_id, at=at, **{**fields, **values})


def task(
    of: IcebergTable,
    *,
    now: datetime = NOW,
    kind: TaskKind = TaskKind.MINOR,
    state: TaskState = TaskState.WAITING,
    **values: Any,
) -> OptimizeTask:
    """A task with its reason; an ended one has its numbers before and after."""
    fields: dict[str, Any] = {
        "reason": "90 of 100 files are below 384 MiB.",
        "score": 3.5,
        "target_bytes": 512 * MIB,
        "estimate": {"n_files_read": 90, "n_files_written": 2, "bytes_read": 90 * MIB},
        "created_at": now - timedelta(minutes=9),
    }
    if state in FINAL:
        fields |= {
            "is_open": None,
            "ended_at": now - timedelta(minutes=1),
            "started_at": now - timedelta(minutes=4),
            "outcome": "90 files became 2.",
            "before": {"n_files": 100, "n_bytes": 640 * MIB, "n_delete_files": 3},
            "after": {"n_files": 12, "n_bytes": 639 * MIB, "n_delete_files": 0},
            "seconds": 12.5,
        }
    if state is TaskState.SENT:
        fields["started_at"] = now - timedelta(minutes=1)
    return OptimizeTask.objects.create(table=of, kind=kind, state=state, **{**fields, **values})
