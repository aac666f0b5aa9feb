"""The program `keep`: writes recorded queries from the portal's segments into the lake's table.

A segment is written exactly once. All segments of a run are appended in one commit, whose rows and
summary name them: a later run that is given one of them again finds it there and leaves it out.
Runs of a lake follow each other, and an application has ended before another takes its place.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, use_iceberg
from optimizer.queries.domain.segments import CLOSED, is_segment
from optimizer.queries.jobs.kept_table import COLUMNS, days_remove, kept_schema, kept_table
from portal.lake.errors import NotVisible
from portal.safety.failpoints import Failpoints
from portal.spark.job import JobContext

SEGMENTS = "segments"
"""The folder of the run's results in which the portal put them."""
MOST_ALIKE = 100
"""Queries of a shape, user and minute that have rows of their own."""
EARLY = timedelta(minutes=5)
LATE = timedelta(days=7)
SEGMENTS_KEY = "lakewarden.segments"
"""In a commit's summary: which segments it wrote."""
_TORN = "torn"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Write what is not in the table yet, and remove days that are too old."""
    use_iceberg(spark, job.config)
    table = kept_table(spark, job.config.recorded_queries)
    job.check_control()
    given = _given(job)
    waiting = sorted(set(given) - segments_in(table, given))
    oldest = job.now - timedelta(days=int(job.params["keep_days"]))
    counted: dict[str, int] = {}
    if waiting:
        job.progress("append", 0, len(waiting), table.name)
        fail = Failpoints.from_environment()
        counted = append(table, job, waiting, oldest=oldest, fail=fail)
        job.progress("append", len(waiting), len(waiting))
    has_removed = days_remove(table, before=oldest)
    return {"segments": given, "n_written": len(waiting), "has_removed": has_removed, **counted}


def _given(job: JobContext) -> list[str]:
    try:
        names = job.spool.fs.names(job.spool.results.child(SEGMENTS))
    except NotVisible:
        return []
    found = (one.removesuffix(CLOSED) for one in names if one.endswith(CLOSED))
    return [one for one in found if is_segment(one)]


def segments_in(table: IcebergTable, names: Collection[str]) -> set[str]:
    """Return those of some segments that were written before.

    Rows say so for as long as they are kept. A segment may have none, because all of its queries
    are in another one of its run; of such a one the commit's summary tells.
    """
    if not names or table.snapshot is None:
        return set()
    with clear_errors(table.name):
        rows = table.spark.table(table.sql).where(F.col("segment").isin(sorted(names)))
        commits = table.spark.table(f"{table.sql}.snapshots")
        told = commits.select(F.explode(F.split(F.col("summary")[SEGMENTS_KEY], ",")))
        found = rows.select("segment").distinct().union(told.where(F.col("col").isin(list(names))))
        return {str(row[0]) for row in found.collect()}


def append(
    table: IcebergTable,
    job: JobContext,
    names: Collection[str],
    *,
    oldest: datetime,
    fail: Failpoints | None = None,
) -> dict[str, int]:
    """Append the queries of some segments in one commit; returns what was counted on the way."""
    lines = _lines(table.spark, job, names)
    queries = _timed(lines.where(f"{_TORN} IS NULL AND query_id IS NOT NULL"), job)
    shapes = lines.where(f"{_TORN} IS NULL AND query_id IS NULL AND text IS NOT NULL")
    said = shapes.select("shape", "text", "is_parsed").dropDuplicates(["shape"])
    kept = queries.dropDuplicates(["engine", "query_id"]).where(F.col("ended_at") >= oldest)
    columns = [F.col(name).cast(kind) for name, kind, _ in COLUMNS]
    rows = folded(kept).join(said, "shape", "left").select(*columns)
    counted = _counted(lines, queries, oldest)
    with clear_errors(table.name), (fail or Failpoints()).step("queries_append"):
        writing = rows.write.format("iceberg").mode("append")
        writing.option(f"snapshot-property.{SEGMENTS_KEY}", ",".join(names)).save(table.sql)
    return counted


def _lines(spark: SparkSession, job: JobContext, names: Collection[str]) -> DataFrame:
    folder = job.spool.results.child(SEGMENTS)
    paths = [str(folder.child(f"{one}{CLOSED}")) for one in sorted(names)]
    schema = StructType([one for one in kept_schema() if one.name not in ("segment", "n_queries")])
    # What a killed process wrote by half is no JSON, and is told by its column.
    reading = spark.read.schema(schema.add(_TORN, "string"))
    lines = reading.option("columnNameOfCorruptRecord", _TORN).json(paths)
    name = F.regexp_replace(F.col("_metadata.file_name"), r"\.jsonl$", "")
    return lines.select("*", name.alias("segment"))


def _timed(queries: DataFrame, job: JobContext) -> DataFrame:
    """Replace instants that cannot be: clocks of engines and of the portal jump."""
    now = F.lit(job.now)
    took = F.when(F.col("took_at") <= now + _interval(EARLY), F.col("took_at")).otherwise(now)
    timed = queries.withColumn("took_at", took)
    earliest, latest = (
        F.col("took_at") - _interval(LATE),
        F.col("took_at") + _interval(EARLY),
    )
    is_right = (F.col("ended_at") >= earliest) & (F.col("ended_at") <= latest)
    # Null where the engine does not say: no jump, and no instant.
    timed = timed.withColumn("is_right", is_right)
    timed = timed.withColumn("jumped", F.expr("ended_at IS NOT NULL AND NOT is_right"))
    ended = F.when(F.col("is_right"), F.col("ended_at")).otherwise(F.col("took_at"))
    return timed.withColumn("ended_at", ended)


def _interval(length: timedelta) -> Any:
    return F.expr(f"INTERVAL {int(length.total_seconds())} SECONDS")


def folded(queries: DataFrame) -> DataFrame:
    """Put queries alike beyond the first hundred of a minute into one row: a storm stays small.

    Alike are those of one shape, engine, user, program and segment that both failed or did not.
    Times and bytes of such a row are sums; tables and hashes are those of one of its queries, and
    constants are left out.
    """
    alike = ["segment", "shape", "engine", "user", "application", "failed", "minute"]
    minute = queries.withColumn("minute", F.date_trunc("minute", "ended_at"))
    numbered = minute.withColumn(
        "number", F.row_number().over(Window.partitionBy(*alike).orderBy("query_id"))
    )
    number = F.least(F.col("number"), F.lit(MOST_ALIKE + 1)).alias("number")
    summed = numbered.groupBy(*alike, number).agg(
        F.min("query_id").alias("query_id"),
        F.max("ended_at").alias("ended_at"),
        F.max("took_at").alias("took_at"),
        F.sum("seconds").alias("seconds"),
        F.sum("n_bytes").alias("n_bytes"),
        F.count(F.lit(1)).alias("n_queries"),
        F.first("hashes").alias("hashes"),
        F.first("constants").alias("constants"),
        F.min("names_all_tables").alias("names_all_tables"),
        F.first("tables").alias("tables"),
    )
    alone = F.col("n_queries") == 1
    return summed.withColumn("constants", F.when(alone, F.col("constants")))


def _counted(lines: DataFrame, queries: DataFrame, oldest: datetime) -> dict[str, int]:
    torn = lines.select(
        F.count(_TORN).alias("n_torn"), F.count("query_id").alias("n_lines")
    ).collect()[0]
    told = queries.select(
        F.count(F.lit(1)).alias("n_queries"),
        F.count_if(F.col("jumped")).alias("n_jumped"),
        F.count_if(F.col("ended_at") < oldest).alias("n_old"),
    ).collect()[0]
    return {
        "n_torn": int(torn["n_torn"]),
        "n_queries": int(told["n_queries"]),
        "n_jumped": int(told["n_jumped"]),
        "n_old": int(told["n_old"]),
    }
