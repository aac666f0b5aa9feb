"""Lists of what would be removed, as a job's result brings them in."""

from datetime import datetime
from typing import Any

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.results import results_ingest
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import IcebergTable, OptimizeTask, RemovalPlan
from portal.runs.models import Run
from tests.component.optimizer.optimizer_rows import task

DIGEST = "d" * 64


def proposal(**values: Any) -> dict[str, Any]:
    """What the job says of 26 old snapshots."""
    return {
        "uri": "file:/spool/run/1/results/removals/1.jsonl",
        "digest": DIGEST,
        "snapshot_id": 7,
        "n_items": 26,
        "n_files": 60,
        "n_bytes": 4_000_000,
        "files": {"data files": 30, "manifests": 4, "manifest lists": 26},
        "stays": {"YOUNG": 2, "NEWEST": 1, "CURRENT": 1},
        "sample": ["101, committed 2026-10-01 08:00 UTC"],
        "file_sample": ["file:/lake/clicks/data/<b>a.parquet"],
        **values,
    }


def proposed(
    row: IcebergTable,
    *,
    now: datetime,
    kind: TaskKind = TaskKind.EXPIRE,
    requested_by: str = "",
    versions: tuple[int, ...] = (),
    **values: Any,
) -> RemovalPlan:
    """A list that a run drew up and that waits for people."""
    run = Run.objects.create(lake=row.lake, kind="optimize", requested_by="test", queued_at=now)
    made: OptimizeTask = task(
        row,
        now=now,
        kind=kind,
        state=TaskState.SENT,
        run=run.pk,
        requested_by=requested_by,
        policy_versions=list(versions),
        reason="30 snapshots; 10 stay.",
    )
    results_ingest(ICEBERG, run, result_of(made, proposal=proposal(**values)), now=now)
    return RemovalPlan.objects.get(task=made)


def result_of(made: OptimizeTask, **values: Any) -> dict[str, Any]:
    """A manifest with the word on one task."""
    said = {"task": made.pk, "outcome": "TO_APPROVE", "seconds": 1.0, "reason": "", **values}
    return {"outcome": "done", "result": {"results": [said]}}
