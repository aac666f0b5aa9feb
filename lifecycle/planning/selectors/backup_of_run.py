"""Reads the backup that a run made."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Count, Min, Q

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import RESTORABLE
from portal.safety.selectors import Pause, pauses_since


@dataclass(frozen=True)
class PlanBackup:
    """Where what a run dropped is kept, and until when all of it can be restored."""

    day: date
    purge_after: datetime | None
    n_restorable: int
    pauses: tuple[Pause, ...] = ()
    """By what that moved since the first of it was dropped."""


def backup_of_run(run_id: UUID) -> PlanBackup | None:
    """Return the backup that a run made; None where it dropped nothing."""
    found = BackupBatch.objects.filter(run_id=run_id).aggregate(
        day=Min("day"),
        until=Min("purge_after", filter=Q(state__in=RESTORABLE)),
        n=Count("pk", filter=Q(state__in=RESTORABLE)),
        dropped_at=Min("dropped_at", filter=Q(state__in=RESTORABLE)),
        lake=Min("lake"),
    )
    if not found["day"]:
        return None
    pauses = pauses_since(found["lake"], found["dropped_at"]) if found["n"] else ()
    return PlanBackup(found["day"], found["until"], found["n"], tuple(pauses))
