"""The run kind that inspects Iceberg tables' metadata."""

from datetime import datetime

from optimizer.core.run_kinds import InspectKind
from optimizer.iceberg.inspect.services.inspection import inspections_due
from optimizer.iceberg.tables.models import IcebergTable
from portal.runs.kinds.registry import register
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "observe_tables"


class ObserveKind(InspectKind):
    """Looks at the tables of a lake of which something new was heard, one run at a time."""

    table_format = IcebergTable.table_format
    name = KIND
    job = "optimizer.iceberg.inspect.jobs.inspect_tables"
    title = "Check Iceberg tables"


def look_ask(lake: str, *, by: str, reason: str = "", now: datetime) -> Run | None:
    """Ask for a look at what is due without waiting for the clock; None where nothing is."""
    under_way = Run.objects.filter(lake=lake, kind=KIND, finished_at=None).first()
    keys = inspections_due(lake, now=now)
    if under_way is not None or not keys:
        return under_way
    params = {"tables": keys}
    return run_request(KIND, lake=lake, params=params, requested_by=by, reason=reason, now=now)


def register_observe_kind() -> None:
    """Tell the platform of the run of this file."""
    register(ObserveKind())
