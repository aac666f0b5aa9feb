"""The program `top_shapes`: which shapes of recorded queries cost most in the last four weeks.

Of each pass the driver holds what belongs to a few hundred shapes; what grows with the table is
aggregated in Spark, which spills.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, use_iceberg
from optimizer.queries.jobs.kept_table import known_table, lately
from portal.spark.job import JobContext

DAYS = 28
TREND_DAYS = 14
MOST_SHAPES = 200
STEP = 1.02
"""Seconds are told apart to 1 %, so that a shape of any number of queries has a few hundred."""
_LEAST_SECONDS = 0.001


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Analyse the lake's table of recorded queries; nothing is written."""
    use_iceberg(spark, job.config)
    table = known_table(spark, job.config.recorded_queries)
    job.progress("analyse", 0, 1, table.name)
    with clear_errors(table.name):
        found = top_shapes(table, now=job.now, most=MOST_SHAPES)
    job.progress("analyse", 1, 1)
    return {"shapes": found, "now": job.now.isoformat()}


def top_shapes(table: IcebergTable, *, now: datetime, most: int) -> list[dict[str, Any]]:
    """Return the shapes that took most seconds in four weeks, the heaviest first."""
    tomorrow = datetime.combine(now.astimezone(UTC).date(), time(), UTC) + timedelta(days=1)
    rows = lately(table, since=tomorrow - timedelta(days=DAYS), until=tomorrow)
    heaviest = _heaviest(rows, most)
    digests = [one["shape"] for one in heaviest]
    if not digests:
        return []
    theirs = rows.where(F.col("shape").isin(digests))
    said = _texts(_said(theirs).collect())
    spread = _by_shape(_spread(theirs).collect())
    days = _grouped(_days(theirs).collect())
    tables = _grouped(_tables(theirs).collect())
    middle = (tomorrow - timedelta(days=TREND_DAYS)).date()
    return [
        {
            **one,
            **said[one["shape"]],
            **_seconds(spread.get(one["shape"], {})),
            **_trend(days[one["shape"]], middle),
            "share": _share(tables[one["shape"]]),
            "days": [
                {**each, "day": each["day"].isoformat()}
                for each in sorted(days[one["shape"]], key=lambda each: each["day"])
            ],
            "tables": sorted(
                ({"db": each["db"], "table": each["table"]} for each in tables[one["shape"]]),
                key=lambda each: (each["db"], each["table"]),
            ),
        }
        for one in heaviest
    ]


def _heaviest(rows: DataFrame, most: int) -> list[dict[str, Any]]:
    summed = rows.groupBy("shape").agg(
        F.sum("n_queries").alias("n_queries"),
        F.coalesce(F.sum("seconds"), F.lit(0.0)).alias("seconds"),
        F.coalesce(F.sum("n_bytes"), F.lit(0)).alias("n_bytes"),
        F.sum(F.when(F.col("failed"), F.col("n_queries")).otherwise(0)).alias("n_failed"),
    )
    ordered = summed.orderBy(F.desc("seconds"), F.desc("n_bytes"), "shape").limit(most)
    return [row.asDict() for row in ordered.collect()]


def _said(rows: DataFrame) -> DataFrame:
    """Return what is said of each shape's text; of equal shapes it is the same.

    Grouped by what could be aggregated: Spark sorts all rows to aggregate texts.
    """
    return rows.groupBy("shape", "engine", "text", "is_parsed").agg(
        F.min("names_all_tables").alias("names_all_tables"),
        F.max("ended_at").alias("last_at"),
    )


def _spread(rows: DataFrame) -> DataFrame:
    """Return the steps in which the 50th and the 95th of a hundred queries' seconds lie."""
    each = F.col("seconds") / F.col("n_queries")
    step = F.ceil(F.log(F.greatest(each, F.lit(_LEAST_SECONDS))) / math.log(STEP)).alias("step")
    steps = rows.where("seconds IS NOT NULL").groupBy("shape", step)
    counted = steps.agg(F.sum("n_queries").alias("n"))
    before = Window.partitionBy("shape").orderBy("step").rowsBetween(Window.unboundedPreceding, 0)
    reached = counted.select(
        "shape",
        "step",
        F.sum("n").over(before).alias("n"),
        F.sum("n").over(Window.partitionBy("shape")).alias("whole"),
    )
    return reached.groupBy("shape").agg(
        _first_from(0.5).alias("p50"),
        _first_from(0.95).alias("p95"),
    )


def _first_from(part: float) -> Column:
    return F.min(F.when(F.col("n") >= F.ceil(F.col("whole") * F.lit(part)), F.col("step")))


def _seconds(steps: dict[str, Any]) -> dict[str, float | None]:
    """Return the middle of a step, in seconds."""
    return {
        name: None if steps.get(name) is None else float(f"{STEP ** (int(steps[name]) - 0.5):.4g}")
        for name in ("p50", "p95")
    }


def _days(rows: DataFrame) -> DataFrame:
    return rows.groupBy("shape", F.to_date("ended_at").alias("day")).agg(
        F.sum("n_queries").alias("n_queries"),
        F.coalesce(F.sum("seconds"), F.lit(0.0)).alias("seconds"),
        F.coalesce(F.sum("n_bytes"), F.lit(0)).alias("n_bytes"),
    )


def _trend(days: Iterable[dict[str, Any]], middle: Any) -> dict[str, float]:
    """Return the seconds of the last two weeks and of the two before."""
    known = list(days)
    return {
        "seconds_lately": math.fsum(one["seconds"] for one in known if one["day"] >= middle),
        "seconds_before": math.fsum(one["seconds"] for one in known if one["day"] < middle),
    }


def _tables(rows: DataFrame) -> DataFrame:
    """Return each table that a shape reads, with the rows that were read, of all it has."""
    scans = rows.select("shape", "n_queries", F.explode("tables").alias("scan"))
    known = F.col("scan.share").isNotNull()
    return scans.groupBy(
        "shape", F.col("scan.db").alias("db"), F.col("scan.table").alias("table")
    ).agg(
        F.sum(F.when(known, F.col("scan.share") * F.col("n_queries"))).alias("read"),
        F.sum(F.when(known, F.col("n_queries"))).alias("whole"),
    )


def _share(tables: Collection[dict[str, Any]]) -> float | None:
    """Return how much of its tables a shape reads, by scan; None where no event told."""
    whole = sum(one["whole"] or 0 for one in tables)
    return math.fsum(one["read"] or 0.0 for one in tables) / whole if whole else None


def _texts(rows: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return each shape's text, where one of its segments lost it too."""
    found: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda one: (one["text"] is not None, one["last_at"])):
        one = found.setdefault(row["shape"], {"names_all_tables": True, "last_at": ""})
        last_at = max(one["last_at"], row["last_at"].astimezone(UTC).isoformat())
        is_whole = one["names_all_tables"] and bool(row["names_all_tables"])
        one |= {
            "engine": row["engine"],
            "text": row["text"] or "",
            "is_parsed": bool(row["is_parsed"]),
            "names_all_tables": is_whole,
            "last_at": last_at,
        }
    return found


def _by_shape(rows: Iterable[Any]) -> dict[str, dict[str, Any]]:
    return {row["shape"]: _without_shape(row) for row in rows}


def _grouped(rows: Iterable[Any]) -> defaultdict[str, list[dict[str, Any]]]:
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["shape"]].append(_without_shape(row))
    return found


def _without_shape(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.asDict().items() if name != "shape"}
