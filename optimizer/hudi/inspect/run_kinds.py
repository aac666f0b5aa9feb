"""Run kinds that inspect Hudi tables, and their schedule."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.hudi.inspect.services.inspection import (
    KIND,
    Decide,
    hudi_look_under_way,
    hudi_looks_due,
    hudi_looks_ingest,
    hudi_looks_request,
)
from portal.access.models import KEEPERS
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run


class ObserveHudiKind(RunKind):
    """Looks at the Hudi tables of a lake that are due, one run at a time."""

    name = KIND
    job = "optimizer.hudi.inspect.jobs.inspect_tables"
    title = "Look at Hudi tables"
    queue = "scan"
    results_pass = True
    start_roles = KEEPERS
    attempts = 1
    longest = timedelta(hours=2)
    schedule = Schedule(every=timedelta(minutes=1))

    def __init__(self, decide: Decide | None = None) -> None:
        self._decide = decide

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a look is due and none is under way."""
        return None if hudi_look_under_way(lake) is not None else hudi_looks_due(lake, now=now)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tables, as they are named and lie now."""
        return hudi_looks_request(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Show what was found, and have it decided what follows."""
        hudi_looks_ingest(run, manifest, now=timezone.now(), decide=self._decide)


def register_observe_hudi_kind(decide: Decide | None = None) -> None:
    """Tell the platform of the runs of this file, and them of who decides what follows."""
    register(ObserveHudiKind(decide))
