"""What lists of Hudi tables hold in tests, and how they are approved and ordered."""

from datetime import datetime
from typing import Any

from optimizer.core.run_kinds import TasksKind
from optimizer.core.services.results import results_ingest
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.models import HudiTable, OptimizeTask, RemovalPlan
from optimizer.removals.services.removals import removal_decide
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.runs.models import Run
from tests.component.optimizer.hudi.hudi_task_rows import (
    hudi_task,
    run_of,
    said,
)
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    name,
)

CLEANING: dict[str, Any] = {
    "instant": name(10),
    "n_partitions": 1,
    "n_files": 3,
    "files": ["p/a.parquet", "p/b.parquet", "p/<i>c.log"],
    "digest": "c" * 64,
}

DRAWN = {**{key: text for key, text in CLEANING.items() if key != "instant"}, "earliest": name(9)}

WHOLE = {**DRAWN, "n_whole": 1, "files": ["p/", *CLEANING["files"][:2]]}

OLD = {
    "listed_at": NOW.isoformat(),
    "partitions": [
        {"partition": "day=1", "written_at": "2026-01-01T00:00:00+00:00", "n_files": 4, "bytes": 9}
    ],
}

LOST = {
    "n_rows": 5,
    "n_read": 9,
    "n_logs": 2,
    "bytes": 2048,
    "today": {"absent": 1, "older": 4, "equal": 1, "newer": 3, "elsewhere": 0, "unknown": 0},
    "blocks": [{"group": "p/a", "log_file": ".<b>a.log.1", "instant": name(10), "rows": 9,
                "bytes": 2048}],
    "keys": ["p id:7 (absent today)"],
    "digest": "d" * 64,
}  # fmt: skip

STUCK = {
    "instants": [
        {"instant": name(10), "action": "deltacommit", "state": "inflight", "n_files": 2,
         "event_at": NOW.isoformat()}
    ]
}  # fmt: skip


def listed(
    row: HudiTable, kind: str, found: dict[str, Any], *, at: datetime = NOW, **values: Any
) -> RemovalPlan:
    """Have a run draw a list up."""
    made = hudi_task(row, kind=kind, instants=None, **values)
    run = run_of()
    OptimizeTask.objects.filter(pk=made.pk).update(state="SENT", run=run.pk, started_at=NOW)
    made.refresh_from_db()
    manifest = said(made, "NOTHING", found=found)
    for _ in range(2):
        results_ingest(HUDI, run, manifest, now=at)
    made.refresh_from_db()
    assert made.state == "DONE"
    return RemovalPlan.objects.get(hudi=row)


def approve(found: RemovalPlan, *users: User, at: datetime = NOW) -> None:
    for user in users:
        answer = DecisionInput("APPROVE", "", found.digest)
        removal_decide(found.pk, user=user, answer=answer, authenticated_at=at, now=at)


def cool(found: RemovalPlan) -> datetime:
    approval = found.approval
    assert approval is not None
    approval.refresh_from_db()
    assert approval.cool_until is not None
    return approval.cool_until


def orders(kind: TasksKind, run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kind.request(run)["tasks"]
    return found
