"""Common parts of every kind of work on a table: open, count, do, count again.

Which work a kind asks for is told in `iceberg.execution`, what it does in the file of each.
"""

from contextlib import suppress
from dataclasses import dataclass, field

from optimizer.core.jobs.file_readers import check_owner_reads
from optimizer.iceberg.access.jobs.history import Signature
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from optimizer.iceberg.access.jobs.orders import Order, Result
from portal.lake.errors import PortalError
from portal.safety.failpoints import Failpoints
from portal.spark.job import JobContext


@dataclass
class TaskExecutor:
    """One task at one table; what came of it stands in `result`, also when it raises."""

    job: JobContext
    order: Order
    result: Result = field(init=False)

    def __post_init__(self) -> None:
        self.result = Result(self.order.task, f"{self.order.db}.{self.order.table}")
        self.fail = Failpoints.from_environment()
        self.signature = Signature(self.order.task, self.job.run, str(self.order.layout))

    def run(self) -> None:
        """Do it.

        Raises:
            PortalError: what ends the task; `run.cancelled` ends the whole run, and
                `task.cancelled` this task alone.
        """
        order, result = self.order, self.result
        table = open_table(self.job.spark, order.db, order.table, uuid=order.uuid)
        check_owner_reads(self.job.spark, table.location, table.name, below="metadata")
        result.before = result.after = self.count(table)
        try:
            self.work(table)
        finally:
            if result.commits:
                with suppress(PortalError):
                    result.after = self.count(table.again())

    def count(self, table: IcebergTable) -> dict[str, int]:
        """Return the numbers that are told before and after."""
        return table.totals()

    def work(self, table: IcebergTable) -> None:
        """Do what the kind asks for, and write into `result` what came of it."""
        raise NotImplementedError
