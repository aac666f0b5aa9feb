"""The program `pipelines.ddl_dry_run`: counts the rows of a Hudi table that a change would lose."""

from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.jobs.target import check_hudi, java_text
from pipelines.cdc.tickets.domain.lost_rows import Check, lost_sql
from portal.lake.errors import ExternalFailure
from portal.spark.java_errors import JAVA_ERRORS
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Read the table once; only numbers leave it."""
    check_hudi(spark, lake=str(job.config.lake))
    checks = msgspec.convert(job.params["checks"], tuple[Check, ...])
    location = str(job.params["location"])
    job.progress("count", 0, 1, location)
    reader = spark.read.format("hudi").option("hoodie.schema.on.read.enable", "true")
    try:
        found = counted(reader.load(location), checks)
    except JAVA_ERRORS as error:
        raise ExternalFailure(
            "cdc.dry_run",
            f"{location} could not be read: {java_text(error)}.",
            service="spark",
            retryable=True,
        ) from error
    job.progress("count", 1, 1)
    return found


def counted(rows: DataFrame, checks: tuple[Check, ...]) -> dict[str, Any]:
    """Count rows, those that would be lost, and these by the source's column."""
    lost = [F.expr(f"coalesce({lost_sql(one)}, false)") for one in checks]
    any_lost = F.array_contains(F.array(*lost), F.expr("true"))
    sums = [F.count_if(one).alias(f"n{place}") for place, one in enumerate(lost)]
    row = rows.agg(F.count("*").alias("n"), F.count_if(any_lost).alias("lost"), *sums).collect()[0]
    columns = [
        {"column": one.source, "old": one.old, "new": one.new, "n_lost": row[f"n{place}"]}
        for place, one in enumerate(checks)
    ]
    return {"n_rows": row["n"], "n_lost": row["lost"], "columns": columns}
