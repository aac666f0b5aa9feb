"""Maps a task kind to its work. It is the one place where the job tells kinds apart."""

from collections.abc import Mapping

from optimizer.core.domain.tasks import REWRITES, TaskKind
from optimizer.iceberg.access.jobs.executor import Work
from optimizer.iceberg.access.jobs.orders import Order
from optimizer.iceberg.maintenance.jobs.deletes import DeletesWork
from optimizer.iceberg.maintenance.jobs.expiry import ExpiryWork
from optimizer.iceberg.maintenance.jobs.manifests import ManifestWork
from optimizer.iceberg.maintenance.jobs.orphans import OrphanWork
from optimizer.iceberg.maintenance.jobs.statistics import StatisticsWork
from optimizer.iceberg.rewrite.jobs.table_rewrite import TableWork
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
    """Return the work of a task, not begun.

    Raises:
        RuleViolation: `optimize.kind`, this job does not do the kind.
    """
    found = WORKS.get(order.kind)
    if found is None:
        raise RuleViolation(
            "optimize.kind", f"{order.kind} is not done by this job.", kind=order.kind
        )
    return found(job, order)
