"""The short run that looks at recorded scans and tries layouts on a sample."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.findings import findings_ingest
from optimizer.advice.services.measuring import advice_watch
from optimizer.advice.services.requests import KIND, tables_due
from optimizer.advice.services.unused import unused_find
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.kinds.ticks import Tick, register_tick
from portal.runs.models import Run

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
        findings_ingest(run, manifest, now=timezone.now())


def register_advice_kind() -> None:
    """Tell the platform of the run of this file, and of what is watched between runs."""
    register(AdviceKind())
    register_tick(Tick("advice.apply", timedelta(minutes=1), advice_apply_automatic))
    register_tick(Tick("advice.unused", timedelta(minutes=10), unused_find))
    register_tick(Tick("advice.watch", timedelta(minutes=1), advice_watch))
