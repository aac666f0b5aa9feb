"""A watched action says how far its stages are, and ends when the run is cancelled."""

import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from portal.lake.errors import StaleState
from portal.spark.job import CANCELLED, JobContext
from portal.spark.watch import watched
from tests.support.file_lake import config_of
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
N_TASKS, ROWS = 12, 12_000


def slow(job: JobContext, seconds: float) -> int:
    """Count rows in tasks that take their time."""

    def waited(rows: Iterable[int]) -> Iterable[int]:
        time.sleep(seconds)
        return rows

    return job.spark.sparkContext.range(ROWS, numSlices=N_TASKS).mapPartitions(waited).count()


def test_tasks_are_counted_while_they_run(spark: SparkSession, tmp_path: Path) -> None:
    job = job_for(spark, config_of(tmp_path), {})
    with watched(job, "first", "marts.days, 1 of 2") as watch:
        watch.begin("all rows")
        assert slow(job, 1.5) == ROWS
    steps = job.spool.progress_after(0)
    assert [(one.phase, one.total) for one in steps[:2]] == [("first", 0), ("all rows", 0)]
    counted = [one for one in steps if one.total]
    assert counted
    assert all(one.phase == "all rows" and one.total == N_TASKS for one in counted)
    assert {one.message for one in counted} == {"marts.days, 1 of 2"}
    assert all(0 <= one.done <= N_TASKS for one in counted)
    assert counted[-1].done > 0


def cancelled_amid(job: JobContext) -> None:
    with watched(job, "all rows"):
        job.spool.write_control({"cancel": True})
        slow(job, 20)


def test_a_cancelled_run_ends_amid_its_action(spark: SparkSession, tmp_path: Path) -> None:
    job = job_for(spark, config_of(tmp_path), {})
    began = time.monotonic()
    with pytest.raises(StaleState) as refused:
        cancelled_amid(job)
    assert refused.value.code == CANCELLED
    assert time.monotonic() - began < 60
