"""Run kinds of Hudi services: many tables in one Spark application, one run at a time a lake.

One kind of run ends with its tasks. What people approved goes in runs of their own, in the lake's
working hours, as of Iceberg tables. The one that stays with tables is in `hudi.continuous`.
"""

from optimizer.core.run_kinds import TasksKind, register_ticks
from optimizer.hudi.tables.models import HudiTable
from optimizer.removals.run_kinds import RemovalsKind
from portal.runs.kinds.registry import register

KIND, REMOVE_KIND = "hudi_services", "hudi_remove"


class HudiServicesKind(TasksKind):
    """Does the tasks that it takes when it starts."""

    table_format = HudiTable.table_format
    name = KIND
    job = "optimizer.hudi.maintenance.jobs.run_services"
    title = "Run Hudi table services"


class HudiRemoveKind(RemovalsKind):
    """Cleans, drops and rolls back what stands on approved lists; the job judges it again."""

    table_format = HudiTable.table_format
    name = REMOVE_KIND
    job = HudiServicesKind.job
    title = "Remove what was approved from Hudi tables"


def register_hudi_kinds() -> None:
    """Tell the platform of the runs and the ticks of this file."""
    register_ticks(HudiServicesKind())
    register(HudiServicesKind())
    register(HudiRemoveKind())
