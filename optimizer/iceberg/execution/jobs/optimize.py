"""The program `optimize`: many tasks at many Iceberg tables in one Spark application.

A table that fails never stops the others. Told to stop, it ends after what is being written and
gives what has come of the tasks so far; the ones it did not come to are not in the result. A task
that people cancelled is left the same way, and the ones after it go on.
"""

import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from optimizer.core.domain.tasks import REWRITES, TaskKind
from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import use_iceberg
from optimizer.iceberg.access.jobs.orders import Order, Result
from optimizer.iceberg.cubing.jobs import cube_work
from optimizer.iceberg.indexing.jobs.index_work import IndexWork, cover_new_files
from optimizer.iceberg.maintenance.jobs.deletes import DeletesWork
from optimizer.iceberg.maintenance.jobs.expiry import ExpiryWork
from optimizer.iceberg.maintenance.jobs.manifests import ManifestWork
from optimizer.iceberg.maintenance.jobs.orphans import OrphanWork
from optimizer.iceberg.maintenance.jobs.statistics import StatisticsWork
from optimizer.iceberg.rewrite.jobs.table_rewrite import TableWork
from portal.lake.errors import PortalError, RuleViolation
from portal.spark.job import CANCELLED, JobContext

EXECUTORS: Mapping[TaskKind, type[TaskExecutor]] = {
    **dict.fromkeys(REWRITES, TableWork),
    TaskKind.EXPIRE: ExpiryWork,
    TaskKind.ORPHANS: OrphanWork,
    TaskKind.DELETES: DeletesWork,
    TaskKind.MANIFESTS: ManifestWork,
    TaskKind.STATISTICS: StatisticsWork,
    TaskKind.INDEX: IndexWork,
    TaskKind.CUBE: cube_work.CubeWork,
}
"""Who does each kind of task; what decides on it is `optimizer.iceberg.planner.domain`."""


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Do the tasks of the request one after the other."""
    use_iceberg(spark, job.config)
    rows = job.params["tasks"]
    results: list[dict[str, Any]] = []
    stopped = ""
    for n, row in enumerate(rows):
        job.progress("rewrite", n, len(rows), f"{row.get('db')}.{row.get('table')}")
        result, stopped = _task(job, row)
        if result is not None:
            results.append(result)
        if stopped:
            break
    job.progress("rewrite", len(results), len(rows), stopped)
    return {"results": results, "stopped": stopped}


def _task(job: JobContext, row: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the result of one task, and why to end the run; no result where nothing was done."""
    started = time.monotonic()
    name = f"{row.get('db')}.{row.get('table')}"
    result = Result(int(row["task"]), name)
    try:
        check_stop(job, result.task)
        work = work_of(job, Order.read(row))
        result = work.result
        work.run()
        cover_new_files(work)
        cube_work.cover_new_files(work)
    except PortalError as error:
        reason = error.message if error.code == CANCELLED else ""
        if error.code in STOPS and not result.commits:
            return None, reason
        result.errors.append(error)
        job.log(f"{name}: {error.code}: {error.message}")
        return result.as_dict(seconds=time.monotonic() - started), reason
    return result.as_dict(seconds=time.monotonic() - started), ""


def work_of(job: JobContext, order: Order) -> TaskExecutor:
    """Return the work of a task, not begun.

    Raises:
        RuleViolation: `optimize.kind`, this job does not do the kind.
    """
    found = EXECUTORS.get(order.kind)
    if found is None:
        raise RuleViolation(
            "optimize.kind", f"{order.kind} is not done by this job.", kind=order.kind
        )
    return found(job, order)
