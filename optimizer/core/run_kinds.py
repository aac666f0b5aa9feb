"""The base of runs that look at tables and of runs that do their tasks, for tables of any format.

A format names its jobs and registers a kind of each; what is said to the job and what becomes of
its results is said by the format's `TableMaintainer`.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db.models import Q
from django.utils import timezone

from optimizer.core.domain.tasks import LEAVE_OUT
from optimizer.core.services.dispatcher import choose, claim
from optimizer.core.services.maintainers import TableMaintainer, maintainer_of
from optimizer.core.services.results import reclaim, results_ingest, sent_of
from optimizer.core.services.task_lifecycle import stop_requests
from portal.access.roles.domain import STAFF
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, write_cancel
from portal.runs.kinds.ticks import Tick, register_tick
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.requests.services import run_request_scheduled
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop

AFTER_A_FAILURE = timedelta(minutes=5)
TURN_EVERY = timedelta(seconds=5)
TURNS = Schedule(every=TURN_EVERY)


class InspectKind(RunKind):
    """Looks at the tables of a lake that are due, one run at a time."""

    table_format: ClassVar[str]
    queue = "scan"
    results_pass = True
    start_roles = STAFF
    attempts = 1
    longest = timedelta(hours=2)
    schedule = Schedule(every=timedelta(minutes=1))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a look is due and none is under way."""
        if Run.objects.filter(lake=lake, kind=self.name, finished_at=None).exists():
            return None
        return maintainer_of(self.table_format).inspections_due(lake, now=now)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tables, as they are named and meant to be now."""
        return maintainer_of(self.table_format).inspections_request(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Show what was found, and have it decided what follows."""
        maintainer_of(self.table_format).inspections_ingest(run, manifest, now=timezone.now())


class TasksKind(RunKind):
    """Does the tasks that it takes when it starts.

    It is no acting kind: a commit of a table happens or does not, and the job clears what it left.
    One that died is not tried again as it was: its tasks wait again, and go with a later run.
    """

    table_format: ClassVar[str]
    writes_tables = True
    yields = True
    attempts = 1
    start_roles = STAFF

    @property
    def maintainer(self) -> TableMaintainer:
        """What maintains the tables of its format."""
        return maintainer_of(self.table_format)

    def decide(self, lake: str, *, now: datetime) -> None:
        """Decide on inspected tables, and take tasks back from lost runs."""
        self.maintainer.decide(lake, now=now)
        reclaim(self.maintainer, lake, now=now)

    def start(self, lake: str, *, now: datetime) -> None:
        """Record what is held, and request a run where something may begin and none is under way.

        Of two that do it at once one run comes.
        """
        if is_busy(lake, self.name, now=now) or not choose(self.maintainer, lake, now=now):
            return
        run_request_scheduled(self, lake=lake, slot=str(TURNS.slot(now)), params={}, now=now)

    def prepare(self, run: Run) -> None:
        """Take the tasks; asked again they are the same."""
        claim(self.maintainer, run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tasks."""
        return {"tasks": self.maintainer.orders(run, sent_of(self.maintainer, run))}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what came of each task; those without a word go back into the queue."""
        results_ingest(self.maintainer, run, manifest, now=timezone.now())

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the emergency stop says so."""
        if tell_stop(run):
            return
        if run.cancel_requested_by:
            write_cancel(run)
        elif run.spool and (wanted := self.wanted(run)):
            open_spool(run).write_control(wanted)

    def wanted(self, run: Run) -> dict[str, Any]:
        """Return what the job must know now: the tasks to leave out; empty says nothing new."""
        tasks = stop_requests(run)
        return {LEAVE_OUT: tasks} if tasks else {}


def register_ticks(kind: TasksKind) -> None:
    """Add what the scheduler does for the runs of a kind: decide first, then start.

    Apart from each other, so that a table on which nothing can be decided does not hold the others.
    """
    register_tick(Tick(f"tasks.decide.{kind.name}", TURN_EVERY, kind.decide))
    register_tick(Tick(f"tasks.start.{kind.name}", TURN_EVERY, kind.start))


def is_busy(lake: str, kind: str, *, now: datetime, too: Q | None = None) -> bool:
    """Whether a run is under way, or failed a moment ago and would again, or none may begin.

    `too` are other runs after which none begins.
    """
    # What failed a moment ago, for want of a jar or a cluster, would fail again.
    lately = Q(state=RunState.FAILED, finished_at__gt=now - AFTER_A_FAILURE)
    if too is not None:
        lately |= too
    runs = Run.objects.filter(lake=lake, kind=kind).filter(Q(finished_at=None) | lately)
    return runs.exists() or bool(emergency_stop_wait(lake))
