"""Spark program of the long kind: counts with Spark, then waits for a file."""

import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from portal.spark.job import JobContext

_MOST_SECONDS = 170


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Return what was counted, and the folder of the release that it was counted by."""
    job.progress("counting", 0, 7)
    n = spark.range(7).count()
    job.progress("waiting", n, 7)
    deadline = time.monotonic() + _MOST_SECONDS
    while not Path(job.params["until"]).exists() and time.monotonic() < deadline:
        job.check_control()
        time.sleep(0.2)
    return {"n": n, "release": str(Path(__file__).parents[2])}
