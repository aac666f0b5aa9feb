"""Registers the runs that bring files back from quarantine, and that delete them later."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.core.run_kinds import is_busy
from optimizer.iceberg.maintenance.services.quarantines import (
    RETURN_KIND,
    deletions_settle,
    files_return,
    quarantines_due,
    quarantines_take,
    returned_ingest,
)
from optimizer.removals.run_kinds import FencedKind
from optimizer.removals.services.fences import fence_open
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait

DELETE_KIND = "optimizer.delete_quarantine"
MOST_IN_A_RUN = 50


class ReturnKind(RunKind):
    """Brings the files of one list back from quarantine."""

    name = RETURN_KIND
    title = "Restore files from quarantine"
    queue = "restore"

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def execute(self, run: Run) -> dict[str, Any]:
        """Move the files."""
        return files_return(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Record what came back."""
        returned_ingest(run, manifest, now=timezone.now())


class DeleteQuarantineKind(FencedKind):
    """Deletes what lay in quarantine for the days of its approved list."""

    name = DELETE_KIND
    title = "Delete files from quarantine"
    job = "optimizer.iceberg.maintenance.jobs.quarantine"
    queue = "destructive"
    destroys = True
    attempts = 1
    schedule = Schedule(every=timedelta(minutes=10))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where the days of some are over and no other such run is under way."""
        if is_busy(lake, self.name, now=now):
            return None
        return {} if quarantines_due(lake, now=now).exists() else None

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def prepare(self, run: Run) -> None:
        """Take what is due, and make the run's fence; asked again they are the same."""
        now = timezone.now()
        quarantines_take(run, most=MOST_IN_A_RUN, now=now)
        fence_open(run, now=now)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job what it may delete, each with its approved list."""
        rows = quarantines_take(run, most=0, now=timezone.now())
        orders = [
            {
                "quarantine": str(row.pk),
                "task": row.plan.task_id,
                "plan": str(row.plan_id),
                "digest": row.plan.digest,
                "db": row.plan.subject.db,
                "table": row.plan.subject.table,
                "uuid": row.plan.table.uuid if row.plan.table else "",
                "place": str(row.plan.facts["quarantine_of"]),
            }
            for row in rows
        ]
        return {**super().request(run), "quarantines": orders}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Record what is left of each."""
        deletions_settle(run, manifest, now=timezone.now())


def register_quarantine_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(ReturnKind())
    register(DeleteQuarantineKind())
