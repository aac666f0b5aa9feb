"""Which work does a kind of task ask for? The one place where the job tells kinds apart."""

from collections.abc import Mapping

from optimizer.domain.tasks import REWRITES, TaskKind
from optimizer.jobs.deletes import DeletesWork
from optimizer.jobs.expiry_work import ExpiryWork
from optimizer.jobs.manifests import ManifestWork
from optimizer.jobs.orders import Order
from optimizer.jobs.orphans import OrphanWork
from optimizer.jobs.statistics import StatisticsWork
from optimizer.jobs.table_work import TableWork
from optimizer.jobs.work import Work
from portal.lake.errors import RuleViolation
from portal.spark.job import JobContext

WORKS: Mapping[TaskKind, type[Work]] = {
    **dict.fromkeys(REWRITES, TableWork),
    TaskKind.EXPIRE: ExpiryWork,
    TaskKind.ORPHANS: OrphanWork,
    TaskKind.DELETES: DeletesWork,
    TaskKind.MANIFESTS: ManifestWork,
    TaskKind.STATISTICS: StatisticsWork,
}


def work_of(job: JobContext, order: Order) -> Work:
    """Give the work of a task, not begun.

    Raises:
        RuleViolation: `optimize.kind`, this job does not do the kind.
    """
    found = WORKS.get(order.kind)
    if found is None:
        raise RuleViolation(
            "optimize.kind", f"{order.kind} is not done by this job.", kind=order.kind
        )
    return found(job, order)
