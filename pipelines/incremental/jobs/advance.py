"""The Spark program that advances layers: a chain of them in one application, in its order.

A layer that cannot be advanced says so in its own result and stops nothing: those that read its
table go on with what it has. The result of each is written whole once it is done.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.jobs.target import check_hudi, read_old_dates
from pipelines.incremental.domain.messages import (
    RESULTS,
    Advanced,
    LayerOrder,
    Request,
    read_request,
)
from pipelines.incremental.jobs.layer_run import LayerRun
from portal.lake.errors import PortalError
from portal.safety.failpoints import Failpoints
from portal.spark.java_errors import JAVA_ERRORS, row_free_text
from portal.spark.job import CANCELLED, JobContext
from portal.spark.watch import watched

REQUEST = "layers"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Advance the layers of a request; returns how many were, and which were not."""
    request = read_request(job.params[REQUEST])
    check_hudi(spark, lake=str(job.config.lake))
    read_old_dates(spark)
    job.spool.fs.make_directories(job.spool.results.child(RESULTS), mode=0o700)
    failed: list[dict[str, Any]] = []
    for n, order in enumerate(request.layers):
        job.check_control()
        job.progress("advance", n, len(request.layers), order.layer.target)
        done = _advanced(spark, job, request, n)
        if done.state in ("failed", "held"):
            job.log(f"{order.layer.target}: {done.code}: {done.reason}")
            failed.append({"id": order.id, "reason": done.reason})
        path = job.spool.results.child(RESULTS, f"{order.id}.json")
        job.spool.fs.replace(path, msgspec.json.encode(done))
    job.progress("advance", len(request.layers), len(request.layers))
    return {"layers": len(request.layers) - len(failed), "failed": failed}


def _advanced(spark: SparkSession, job: JobContext, request: Request, n: int) -> Advanced:
    order, failpoints = request.layers[n], Failpoints.from_environment()
    title = f"{order.layer.target}, {n + 1} of {len(request.layers)}"
    try:
        with watched(job, "look at the commits", title) as watch:
            layer = LayerRun(spark, job.config, order, request.modules, failpoints, watch.begin)
            return layer.advance()
    except PortalError as error:
        if error.code == CANCELLED:
            raise
        return _failed(order, error.code, error.message)
    except JAVA_ERRORS as error:
        return _failed(order, "layer.spark", row_free_text(error))


def _failed(order: LayerOrder, code: str, reason: str) -> Advanced:
    now = datetime.now(UTC)
    return Advanced(order.id, order.version, "failed", now, reason=reason, code=code)
