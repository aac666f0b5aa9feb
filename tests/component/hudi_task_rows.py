"""Hudi tables with a look and with tasks, for tests of what becomes of them in the queue."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from optimizer.domain.hudi.facts import HudiLook
from optimizer.domain.tasks import FINAL, TaskState
from optimizer.models import HudiTable, OptimizeTask, StoredLook

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def hudi(name: str = "rides", *, now: datetime = NOW, **values: Any) -> HudiTable:
    """Make a table of olga that was heard of and never looked at."""
    location = f"file:/lake/{name}"
    fields = {
        "lake": "main",
        "db": "shop",
        "owner": "olga",
        "location": location,
        "place": sha256(location.encode()).hexdigest(),
        "heard_at": now,
    }
    return HudiTable.objects.create(table=name, **{**fields, **values})


def looked(name: str, look: HudiLook, **values: Any) -> HudiTable:
    """Make a table whose last look is this one."""
    made = hudi(name, now=look.looked_at, looked_at=look.looked_at, **values)
    look_again(made, look)
    return made


def look_again(row: HudiTable, look: HudiLook) -> None:
    """Keep a look as the last one of a table."""
    fields = {"at": look.looked_at, "packed": StoredLook.pack(look)}
    StoredLook.objects.update_or_create(table=row, defaults=fields)
    HudiTable.objects.filter(pk=row.pk).update(looked_at=look.looked_at, look_due_at=None)
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
        "noted_at": now - timedelta(minutes=9),
    }
    if state in FINAL:
        fields |= {
            "is_open": None,
            "ended_at": now - timedelta(minutes=1),
            "sent_at": now - timedelta(minutes=4),
            "outcome": "2 plans were executed.",
            "seconds": 12.5,
        }
    if state is TaskState.SENT:
        fields["sent_at"] = now - timedelta(minutes=1)
    return OptimizeTask.objects.create(hudi=of, kind=kind, state=state, **{**fields, **values})
