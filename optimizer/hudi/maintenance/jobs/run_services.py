"""The program that does the table services of many Hudi tables in one Spark application.

A table that fails never stops the others. Told to stop, it ends after the instant that it is at
and gives what has come of the tasks so far; the ones it did not come to are not in the result. A
task that people cancelled is left the same way, and the ones after it go on.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from optimizer.core.jobs.file_readers import check_owner_reads
from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.hudi.inspect.jobs.slices import read_files
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.maintenance.jobs.cleaning import clean, list_clean
from optimizer.hudi.maintenance.jobs.executing import execute
from optimizer.hudi.maintenance.jobs.expiring import drop_old, list_old
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.recovering import bring_back, list_left_out
from optimizer.hudi.maintenance.jobs.rolling_back import list_stuck, roll_back
from optimizer.hudi.maintenance.jobs.rules import check_fit
from optimizer.hudi.maintenance.jobs.scheduling import schedule
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table, use_hudi
from optimizer.removals.domain.papers import ACTING
from optimizer.removals.jobs.guard import RemovalGuard
from portal.lake.errors import PortalError
from portal.spark.job import CANCELLED, JobContext

Act: TypeAlias = Callable[[Present, Order, Result, Stop], None]

ACTS: Mapping[tuple[Service, Step], Act] = {
    (Service.COMPACTION, Step.SCHEDULE): schedule,
    (Service.COMPACTION, Step.EXECUTE): execute,
    (Service.CLUSTERING, Step.SCHEDULE): schedule,
    (Service.CLUSTERING, Step.EXECUTE): execute,
    (Service.CLEAN, Step.SCHEDULE): list_clean,
    (Service.CLEAN, Step.EXECUTE): clean,
    (Service.ROLLBACK, Step.SCHEDULE): list_stuck,
    (Service.ROLLBACK, Step.EXECUTE): roll_back,
    (Service.RECOVERY, Step.SCHEDULE): list_left_out,
    (Service.RECOVERY, Step.EXECUTE): bring_back,
    (Service.TTL, Step.SCHEDULE): list_old,
    (Service.TTL, Step.EXECUTE): drop_old,
}


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Do the tasks of the request one after the other."""
    use_hudi(spark, lake=str(job.config.lake), writing_in=job.config.zone)
    rows = sorted(job.params["tasks"], key=lambda row: offset_of(job, row) or 0.0)
    results: list[dict[str, Any]] = []
    stopped = ""
    for n, row in enumerate(rows):
        job.progress("services", n, len(rows), _name(row))
        result, stopped = task_done(job, row)
        if result is not None:
            results.append(result)
        if stopped:
            break
    job.progress("services", len(results), len(rows), stopped)
    return {"tasks": results, "stopped": stopped}


def task_done(job: JobContext, row: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Do one task; returns its result, None where nothing was done, and why to end the run."""
    started = time.monotonic()
    result = Result(int(row["task"]), _name(row))
    try:
        check_stop(job, result.task)
        _serve(job, Order.read(row), result)
    except PortalError as error:
        reason = error.message if error.code == CANCELLED else ""
        if error.code in STOPS and not result.done:
            return None, reason
        result.errors.append(error)
        job.log(f"{result.table}: {error.code}: {error.message}")
        return result.as_dict(seconds=time.monotonic() - started), reason
    for failed in result.errors:
        job.log(f"{result.table}: {failed.code}: {failed.message}")
    return result.as_dict(seconds=time.monotonic() - started), ""


def offset_of(job: JobContext, row: Mapping[str, Any]) -> float | None:
    """Return how far ahead of UTC the digits of a table's instants are; None if it does not open.

    Hudi never makes an instant in a JVM that lies before the last one, and waits instead: hours,
    if a table whose timeline is in UTC came after one in a zone that is ahead.
    """
    try:
        zone = _open(job, Order.read(row)).zone
    except PortalError:
        return None
    offset = datetime.now(UTC).astimezone(zone).utcoffset()
    return offset.total_seconds() if offset else 0.0


def _serve(job: JobContext, order: Order, result: Result) -> None:
    """Do one task; what came of it stands in `result`, also when it raises."""
    table = _open(job, order)
    present = present_of(table, closely=True)
    check_fit(present, order)
    check_owner_reads(job.spark, table.location, result.table, below=".hoodie")
    result.before = result.after = _count(table)
    try:
        if order.step is Step.EXECUTE and job.params.get(ACTING):
            _remove(job, present, order, result)
        else:
            act_of(order)(present, order, result, partial(check_stop, job, order.task))
    finally:
        if result.done and order.step is Step.EXECUTE:
            with suppress(PortalError):
                result.after = _count(table.again())


def _remove(job: JobContext, present: Present, order: Order, result: Result) -> None:
    """Do what people approved under the run's lease; Hudi deletes, so its Spark jobs are watched.

    Raises:
        StaleState: `act.fenced` and what stops a run.
    """
    guard = RemovalGuard(job, order.task)
    about = {
        "service": order.service.value,
        "location": order.location,
        "instants": list(order.instants or ()),
        "partitions": list(order.partitions),
    }
    with guard.step(about) as told, guard.watched():
        act_of(order)(present, order, result, guard.check)
        told["n_files"] = sum(int(one.get("n_files", 0)) for one in result.done)


def _open(job: JobContext, order: Order) -> OpenedTable:
    return open_table(
        job.spark,
        order.name,
        order.location,
        lake_zone=job.config.zone,
        metastore=order.properties,
    )


def _count(table: OpenedTable) -> dict[str, int]:
    with clear_errors(table.name):
        return read_files(table).totals()


def _name(row: Mapping[str, Any]) -> str:
    return f"{row.get('db')}.{row.get('table')}"


def act_of(order: Order) -> Act:
    """Return what an order asks for, not begun."""
    return ACTS[order.service, order.step]
