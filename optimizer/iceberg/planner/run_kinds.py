"""The runs over Iceberg tables: one optimizes, one removes what people approved.

Many tasks go in one Spark application, one run at a time a lake. What was approved goes in runs of
its own: only in the lake's working hours, after the cooling-off, and only while approval and policy
still stand.
"""

from django.utils import timezone

from optimizer.core.run_kinds import TasksKind, register_ticks
from optimizer.iceberg.maintenance.services.quarantines import quarantines_open, quarantines_seal
from optimizer.iceberg.tables.models import IcebergTable
from optimizer.removals.run_kinds import RemovalsKind
from portal.runs.kinds.registry import register
from portal.runs.models import Run

KIND = "optimize"
REMOVE_KIND = "optimizer.remove"


class OptimizeKind(TasksKind):
    """Does the tasks that it takes when it starts."""

    table_format = IcebergTable.table_format
    name = KIND
    job = "optimizer.iceberg.execution.jobs.optimize"
    title = "Optimize Iceberg tables"


class RemoveKind(RemovalsKind):
    """Removes what stands on approved lists; the job judges each item again."""

    table_format = IcebergTable.table_format
    name = REMOVE_KIND
    job = OptimizeKind.job
    title = "Remove approved snapshots and files"

    def prepare(self, run: Run) -> None:
        """Take the lists, and make the run's fence and quarantines; asked again all is the same."""
        super().prepare(run)
        quarantines_open(run)

    def settle(self, run: Run) -> None:
        """Seal what the run could act on, then its quarantines."""
        super().settle(run)
        quarantines_seal(run, now=timezone.now())


def register_task_kinds() -> None:
    """Tell the platform of the runs and the ticks of this file."""
    register_ticks(OptimizeKind())
    register(OptimizeKind())
    register(RemoveKind())
