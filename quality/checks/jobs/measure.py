"""The Spark program that measures the metrics of tables: many tables in one application.

A table that cannot be measured says so in its own result and stops nothing. The result of each is
written whole once it is done, so that a run that is killed keeps what it has measured.
"""

import time
from dataclasses import dataclass
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from portal.lake.errors import PortalError
from portal.spark.java_errors import JAVA_ERRORS
from portal.spark.job import CANCELLED, JobContext
from quality.checks.domain.messages import (
    MEASURED,
    SAMPLES,
    Measured,
    Samples,
    Task,
    read_request,
)
from quality.checks.domain.reasons import Reason
from quality.checks.jobs.errors import Unmeasured, unmeasured
from quality.checks.jobs.measurement import Measurement
from quality.checks.jobs.tables import Tables

REQUEST = "checks"
_MOST_FIELDS = "spark.sql.codegen.maxFields"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Measure the tables of a request; returns how many were measured, and which failed."""
    request = read_request(job.params[REQUEST])
    # Many rules make many aggregates; Spark would else interpret them row by row.
    spark.conf.set(_MOST_FIELDS, "2000")
    for name in (MEASURED, SAMPLES):
        job.spool.fs.make_directories(job.spool.results.child(name), mode=0o700)
    tables = Tables(spark, job.config)
    failed: list[dict[str, Any]] = []
    for n, task in enumerate(request.tasks):
        job.check_control()
        name = f"{task.db}.{task.table}"
        job.progress("measure", n, len(request.tasks), name)
        done = _measured(spark, job, tables, task)
        if done.measured.state == "failed":
            job.log(f"{name}: {done.measured.reason}: {done.measured.note}")
            failed.append({"id": task.id, "reason": done.measured.note})
        _write(job, SAMPLES, task.id, done.samples)
        _write(job, MEASURED, task.id, done.measured)
    job.progress("measure", len(request.tasks), len(request.tasks))
    return {"tables": len(request.tasks) - len(failed), "failed": failed}


@dataclass(frozen=True)
class _Done:
    measured: Measured
    samples: Samples


def _measured(spark: SparkSession, job: JobContext, tables: Tables, task: Task) -> _Done:
    began = time.monotonic()
    reason = Reason.FAILED
    try:
        found = Measurement.of(spark, job, tables, task)
        seconds = round(time.monotonic() - began, 2)
        return _Done(msgspec.structs.replace(found[0], seconds=seconds), found[1])
    except PortalError as error:
        if error.code == CANCELLED:
            raise
        note = error.message
    except Unmeasured as error:
        reason, note = error.reason, error.detail
    except JAVA_ERRORS as error:
        said = unmeasured(error)
        reason, note = said.reason, said.detail
    failed = Measured(
        task.id,
        "failed",
        job.now,
        note=note,
        reason=reason,
        seconds=round(time.monotonic() - began, 2),
    )
    return _Done(failed, Samples(task.id, ()))


def _write(job: JobContext, folder: str, number: int, data: Measured | Samples) -> None:
    path = job.spool.results.child(folder, f"{number}.json")
    job.spool.fs.replace(path, msgspec.json.encode(data))
