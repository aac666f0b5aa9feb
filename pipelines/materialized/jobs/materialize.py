"""The Spark program that refreshes materializations, many in one application.

One that fails says so in its own result and stops no other. The result of each is written once it
is done, so that a run that is killed keeps what it has done.
"""

import time
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.jobs.target import check_hudi, read_old_dates
from pipelines.commits.jobs.tables import open_source
from pipelines.commits.jobs.target import Target
from pipelines.materialized.domain.definition import read_definition
from pipelines.materialized.domain.kept_columns import GROUP, ROWS
from pipelines.materialized.domain.messages import (
    DISTINCT,
    RESULTS,
    Order,
    Refreshed,
    read_request,
)
from pipelines.materialized.domain.refusals import Refused
from pipelines.materialized.jobs.refresh import Refresh
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.names import TableName
from portal.safety.failpoints import Failpoints
from portal.spark.java_errors import JAVA_ERRORS, row_free_text
from portal.spark.job import CANCELLED, JobContext
from portal.spark.watch import Watch, watched

REQUEST = "materialize"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Refresh the materializations of a request; returns how many there were by their state."""
    check_hudi(spark, lake=str(job.config.lake))
    read_old_dates(spark)
    orders = read_request(job.params[REQUEST]).orders
    job.spool.fs.make_directories(job.spool.results.child(RESULTS), mode=0o700)
    states: dict[str, int] = {}
    for n, order in enumerate(orders):
        job.check_control()
        name = f"{order.db}.{order.table}"
        job.progress("refresh", n, len(orders), name)
        done = _refreshed(spark, job, order, f"{name}, {n + 1} of {len(orders)}")
        states[done.state] = states.get(done.state, 0) + 1
        path = job.spool.results.child(RESULTS, f"{order.id}.json")
        job.spool.fs.replace(path, msgspec.json.encode(done))
    job.progress("refresh", len(orders), len(orders))
    return {"states": states}


def _refreshed(spark: SparkSession, job: JobContext, order: Order, title: str) -> Refreshed:
    began = time.monotonic()
    try:
        with watched(job, "look at the commits", title) as watch:
            done = refresh(spark, job, order, watch)
    except PortalError as error:
        if error.code == CANCELLED:
            raise
        job.log(f"{order.db}.{order.table}: {error.code}: {error.message}")
        done = Refreshed(order.id, "failed", code=error.code, reason=error.message)
    except JAVA_ERRORS as error:
        reason = row_free_text(error)
        job.log(f"{order.db}.{order.table}: {reason}")
        done = Refreshed(order.id, "failed", code="spark.failed", reason=reason)
    return msgspec.structs.replace(done, seconds=round(time.monotonic() - began, 1))


def refresh(spark: SparkSession, job: JobContext, order: Order, watch: Watch) -> Refreshed:
    """Refresh one materialization.

    Raises:
        RuleViolation: `materialized.definition`, `materialized.type`, `commits.format`,
            `commits.foreign_table`, `commits.foreign_write`.
    """
    try:
        definition = read_definition(order.sql)
    except Refused as error:
        raise RuleViolation("materialized.definition", str(error), clause=error.clause) from error
    sources = {
        one.name: open_source(spark, job.config, TableName(job.config.lake, one.db, one.table))
        for one in definition.tables
    }

    def tell(text: str) -> None:
        job.log(f"{order.db}.{order.table}: {text}")
        step, _, _ = text.partition(": ")
        watch.begin(step)

    one = Refresh(
        spark,
        definition,
        sources,
        target_of(spark, order, job.config),
        f"{order.location}{DISTINCT}",
        Failpoints.from_environment(),
        tell,
        job.now,
        order.past,
    )
    return _done(one, order)


def target_of(spark: SparkSession, order: Order, config: LakeConfig) -> Target:
    """Return the table of a materialization."""
    return Target(
        spark,
        order.db,
        order.table,
        order.location,
        order.owner,
        GROUP,
        config.metastore_uri,
        deleted_by=(ROWS, "0"),
        version=config.materialization_table_version,
    )


def _done(one: Refresh, order: Order) -> Refreshed:
    done = one.run(is_full=order.is_full)
    numbers = done.numbers
    return Refreshed(
        order.id,
        "done",
        reason=done.plan.reason,
        way=done.plan.way,
        positions=dict(done.positions),
        has_floats=done.kept.has_floats,
        types=done.kept.types,
        version=order.version,
        n_rows=numbers.n_rows,
        n_groups=numbers.n_groups,
        n_changed_groups=numbers.n_changed_groups,
        n_dirty_groups=numbers.n_dirty_groups,
        n_commits=numbers.n_commits,
        changed_bytes=numbers.changed_bytes,
        all_bytes=numbers.all_bytes,
    )
