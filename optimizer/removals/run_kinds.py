"""The base of runs that remove what people approved: they act under a lease and a fence."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.core.run_kinds import TasksKind, is_busy
from optimizer.removals.domain.papers import ACTING
from optimizer.removals.services.claims import lists_claim, lists_ready
from optimizer.removals.services.fences import fence_beat, fence_open, fence_settle
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.safety.services import tell_stop


class FencedKind(RunKind):
    """A run that deletes: it has a lease, and is settled like every run that acts."""

    acting = True

    def request(self, run: Run) -> dict[str, Any]:
        """Tell the job that it acts under the run's lease."""
        return {**super().request(run), ACTING: True}

    def beat(self, run: Run) -> None:
        """Pass a stop on, then renew the lease."""
        if not tell_stop(run):
            super().beat(run)
        fence_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal what the run could act on."""
        fence_settle(run, now=timezone.now())


class RemovalsKind(FencedKind, TasksKind):
    """Removes what stands on approved lists of tables of one format; the job judges it again."""

    queue = "destructive"
    destroys = True
    start_roles = frozenset()
    schedule = Schedule(every=timedelta(seconds=10))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a list may be acted on and no other such run is under way."""
        if is_busy(lake, self.name, now=now):
            return None
        return {} if lists_ready(self.maintainer, lake, now=now).exists() else None

    def prepare(self, run: Run) -> None:
        """Take the lists, and make the run's fence; asked again they are the same."""
        now = timezone.now()
        lists_claim(self.maintainer, run, now=now)
        fence_open(run, now=now)
