"""The base of runs that do tasks of the queue, for tables of either format."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from optimizer.core.domain.tasks import LEAVE_OUT
from optimizer.core.services.task_lifecycle import told_to_stop
from portal.access.models import KEEPERS
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, write_cancel
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.selectors import red_button_wait

AFTER_A_FAILURE = timedelta(minutes=5)


class TasksKind(RunKind):
    """Does the tasks that it takes when it starts; one that died is not tried again as it was."""

    writes_tables = True
    yields = True
    attempts = 1
    start_roles = KEEPERS
    schedule = Schedule(every=timedelta(seconds=5))

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the red button is on."""
        return red_button_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the red button says so, or what it must know."""
        pressed = red_button_wait(run.lake)
        if pressed and run.spool:
            open_spool(run).write_control({"cancel": True, "by": "red button", "why": pressed})
        elif run.cancel_requested_by:
            write_cancel(run)
        elif run.spool and (wanted := self.wanted(run)):
            open_spool(run).write_control(wanted)

    def wanted(self, run: Run) -> dict[str, Any]:
        """Return what the job must know now: the tasks to leave out; empty says nothing new."""
        tasks = told_to_stop(run)
        return {LEAVE_OUT: tasks} if tasks else {}


def is_busy(lake: str, kind: str, *, now: datetime, too: Q | None = None) -> bool:
    """Whether a run is under way, or failed a moment ago and would again, or none may begin.

    `too` are other runs after which none begins.
    """
    # What failed a moment ago, for want of a jar or a cluster, would fail again.
    lately = Q(state=RunState.FAILED, finished_at__gt=now - AFTER_A_FAILURE)
    if too is not None:
        lately |= too
    runs = Run.objects.filter(lake=lake, kind=kind).filter(Q(finished_at=None) | lately)
    return runs.exists() or bool(red_button_wait(lake))
