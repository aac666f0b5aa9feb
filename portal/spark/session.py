"""The Spark session of a job: what spark-submit configured, with the settings all jobs share."""

from collections.abc import Mapping

from pyspark.sql import SparkSession


def job_session(name: str, *, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the session of this process; under spark-submit its conf is there already."""
    builder = SparkSession.builder.appName(name)
    shared = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.sources.partitionOverwriteMode": "static",
        "spark.sql.parquet.compression.codec": "zstd",
    }
    for key, value in {**shared, **(settings or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark
