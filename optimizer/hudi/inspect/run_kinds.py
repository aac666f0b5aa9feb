"""The run kind that inspects Hudi tables."""

from optimizer.core.run_kinds import InspectKind
from optimizer.hudi.inspect.services.inspection import KIND
from optimizer.hudi.tables.models import HudiTable
from portal.runs.kinds.registry import register


class ObserveHudiKind(InspectKind):
    """Looks at the Hudi tables of a lake that are due, one run at a time."""

    table_format = HudiTable.table_format
    name = KIND
    job = "optimizer.hudi.inspect.jobs.inspect_tables"
    title = "Check Hudi tables"


def register_observe_hudi_kind() -> None:
    """Tell the platform of the run of this file."""
    register(ObserveHudiKind())
