"""Run kinds that inspect Iceberg tables' metadata, and their schedule."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.iceberg.inspect.services.inspection import (
    Decide,
    looks_due,
    looks_ingest,
    looks_request,
)
from portal.access.models import KEEPERS
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "observe_tables"


class ObserveKind(RunKind):
    """Looks at the tables of a lake of which something new was heard, one run at a time."""

    name = KIND
    job = "optimizer.iceberg.inspect.jobs.inspect_tables"
    title = "Look at Iceberg tables"
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
        if Run.objects.filter(lake=lake, kind=KIND, finished_at=None).exists():
            return None
        keys = looks_due(lake, now=now)
        return {"tables": keys} if keys else None

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tables, as they are named and meant to be now."""
        return {"tables": looks_request(run.lake, run.params["tables"], now=timezone.now())}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Show what was found, and have it decided what follows."""
        looks_ingest(run, manifest, now=timezone.now(), decide=self._decide)


def look_ask(lake: str, *, by: str, reason: str = "", now: datetime) -> Run | None:
    """Ask for a look at what is due without waiting for the clock; None where nothing is."""
    under_way = Run.objects.filter(lake=lake, kind=KIND, finished_at=None).first()
    keys = looks_due(lake, now=now)
    if under_way is not None or not keys:
        return under_way
    params = {"tables": keys}
    return run_request(KIND, lake=lake, params=params, requested_by=by, reason=reason, now=now)


def register_observe_kind(decide: Decide | None = None) -> None:
    """Tell the platform of the runs of this file, and them of who decides what follows."""
    register(ObserveKind(decide))
