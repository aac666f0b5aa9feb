"""The runs of advice: one looks at recorded scans, one tries a layout on a branch.

A third takes away what a trial left that died; a trial itself leaves nothing.
"""

from datetime import datetime, timedelta
from typing import Any

from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.findings import findings_ingest
from optimizer.advice.services.measuring import advice_watch
from optimizer.advice.services.requests import KIND, tables_due
from optimizer.advice.services.trials import CLEANUP_KIND as TRIAL_CLEANUP_KIND
from optimizer.advice.services.trials import KIND as TRIAL_KIND
from optimizer.advice.services.trials import (
    cleanup_due,
    cleanup_ingest,
    trial_ingest,
    trial_wait,
    trials_reclaim,
)
from optimizer.advice.services.unused import unused_find
from optimizer.core.run_kinds import is_busy
from portal.played import instant
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.kinds.ticks import Tick, register_tick
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop

EVERY = timedelta(minutes=10)


class AdviceKind(RunKind):
    """Samples tables whose scans were recorded; nothing is written."""

    name = KIND
    title = "Look for advice"
    job = "optimizer.advice.jobs.layout"
    queue = "plan"
    attempts = 1
    longest = timedelta(hours=2)
    schedule = Schedule(every=EVERY)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a table is due and no such run is under way."""
        if Run.objects.filter(lake=lake, kind=KIND, finished_at=None).exists():
            return None
        return tables_due(lake, now=now)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Judge what was found."""
        findings_ingest(run, manifest, now=instant())


class TrialKind(RunKind):
    """Writes a sample of a table to a branch, plans queries on it, and takes both away again.

    It is no acting kind: main never changes, and what a death leaves is cleaned up by its own run.
    """

    name = TRIAL_KIND
    title = "Try a layout on a branch"
    job = "optimizer.advice.jobs.trial"
    writes_tables = True
    yields = True
    attempts = 1
    longest = timedelta(hours=6)

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on or the table is paused."""
        return trial_wait(run)

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the emergency stop says so."""
        if not tell_stop(run):
            super().beat(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Record what it showed."""
        trial_ingest(run, manifest, now=instant())


class TrialCleanupKind(RunKind):
    """Takes branches and files away that trials left whose run is over."""

    name = TRIAL_CLEANUP_KIND
    title = "Clean up after trials"
    job = "optimizer.advice.jobs.trial_cleanup"
    queue = "plan"
    # Dropping a branch writes metadata of the table, which its readers open.
    writes_tables = True
    yields = True
    attempts = 1
    longest = timedelta(hours=2)
    schedule = Schedule(every=timedelta(minutes=1))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where something is left and no such run is under way."""
        return None if is_busy(lake, self.name, now=now) else cleanup_due(lake, now=now)

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Record of which trials nothing is left."""
        cleanup_ingest(run, manifest, now=instant())


def register_advice_kind() -> None:
    """Tell the platform of the runs of this file, and of what is watched between runs."""
    register(AdviceKind())
    register(TrialKind())
    register(TrialCleanupKind())
    register_tick(Tick("advice.trials", timedelta(minutes=1), trials_reclaim))
    register_tick(Tick("advice.apply", timedelta(minutes=1), advice_apply_automatic))
    register_tick(Tick("advice.unused", timedelta(minutes=10), unused_find))
    register_tick(Tick("advice.watch", timedelta(minutes=1), advice_watch))
