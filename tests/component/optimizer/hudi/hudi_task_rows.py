"""Hudi tables with a look and with tasks, for tests of what becomes of them in the queue."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from optimizer.core.domain.tasks import FINAL, TaskState
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion, StoredInspection
from portal.runs.models import Run
from tests.unit.optimizer.hudi.hudi_world import LOCK, NOW


def hudi(name: str = "rides", *, now: datetime = NOW, **values: Any) -> HudiTable:
    """Make a table of olga that was heard of and never looked at."""
    location = f"file:/lake/{name}"
    fields = {
        "lake": "main",
        "db": "shop",
        "owner": "olga",
        "location": location,
        "place": sha256(location.encode()).hexdigest(),
        "event_at": now,
    }
    return HudiTable.objects.create(table=name, **{**fields, **values})


def looked(name: str, look: HudiInspection, **values: Any) -> HudiTable:
    """Make a table whose last look is this one."""
    made = hudi(name, now=look.inspected_at, inspected_at=look.inspected_at, **values)
    inspect_again(made, look)
    return made


def inspect_again(row: HudiTable, look: HudiInspection) -> None:
    """Keep a look as the last one of a table."""
    fields = {"at": look.inspected_at, "packed": StoredInspection.pack(look)}
    StoredInspection.objects.update_or_create(table=row, defaults=fields)
    HudiTable.objects.filter(pk=row.pk).update(inspected_at=look.inspected_at, inspect_due_at=None)
    row.refresh_from_db()


def hudi_task(
    of: HudiTable,
    *,
    now: datetime = NOW,
    kind: str = "HUDI_COMPACTION_EXECUTE",
    state: TaskState = TaskState.WAITING,
    **values: Any,
) -> OptimizeTask:
    """Make a task; an ended one says what came of it."""
    fields: dict[str, Any] = {
        "reason": "2 plans of compaction pending.",
        "instants": ["20260302000100000"],
        "created_at": now - timedelta(minutes=9),
    }
    if state in FINAL:
        fields |= {
            "is_open": None,
            "ended_at": now - timedelta(minutes=1),
            "started_at": now - timedelta(minutes=4),
            "outcome": "2 plans were executed.",
            "seconds": 12.5,
        }
    if state is TaskState.SENT:
        fields["started_at"] = now - timedelta(minutes=1)
    return OptimizeTask.objects.create(hudi=of, kind=kind, state=state, **{**fields, **values})


def allow(*, scope: str = "*", version: int = 1, by: str = "paula", **values: Any) -> PolicyVersion:
    """Set a Hudi policy: on, with a shared lock, no blackout windows, and every service but TTL."""
    fields = {
        "is_on": True,
        "lock": LOCK,
        "kinds": [one.value for one in Service if one is not Service.TTL],
        "quiet": None,
        **values,
    }
    made: PolicyVersion = PolicyVersion.objects.create(
        lake="main", format="hudi", scope=scope, version=version, values=fields,
        by=by, at=NOW, reason="test",
    )  # fmt: skip
    return made


def run_of(kind: str = "hudi_services", *, now: datetime = NOW) -> Run:
    """Return a run of the lake that was just queued."""
    return Run.objects.create(lake="main", kind=kind, requested_by="test", queued_at=now)


def said(task: OptimizeTask, outcome: str = "DONE", **values: Any) -> dict[str, Any]:
    """Return a manifest with the job's word on one task, as the job writes it."""
    word = {
        "task": task.pk,
        "outcome": outcome,
        "code": "",
        "reason": "",
        "done": [],
        "found": {},
        "seconds": 2.0,
        "before": {},
        "after": {},
        **values,
    }
    return {"outcome": "done", "result": {"tasks": [word], "stopped": ""}}


def executed(*instants: str, action: str = "compaction") -> list[dict[str, Any]]:
    """Return what the job says of instants that it executed."""
    return [
        {"instant": one, "action": action, "was": "requested", "seconds": 1.0, "n_files": 2,
         "bytes": 2048, "rows": 10}
        for one in instants
    ]  # fmt: skip
