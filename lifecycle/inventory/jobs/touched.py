"""Finds items that changed while the metastore was being read. They are judged another day."""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.expiry.domain.rule import ExpiryClass, Rule
from portal.events.change_log import Touched

AFFECTED = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)
_SCHEMA = "t_db string, t_tbl string, t_part string, event_id long"


def touched_rows(items: DataFrame, touched: Iterable[Touched], spark: SparkSession) -> DataFrame:
    """Return (tbl_id, part_id, changed_at) of the due rows that changed during the scan."""
    rows = [(item.db, item.table, item.partition, item.event_id) for item in touched]
    events = F.broadcast(spark.createDataFrame(rows, _SCHEMA))
    same = (
        (F.col("db") == F.col("t_db"))
        & F.col("t_tbl").isin(F.lit(""), F.col("tbl"))
        & F.col("t_part").isin(F.lit(""), F.col("part_name"))
    )
    due = items.where(F.col("cls").isin([cls.value for cls in AFFECTED]))
    found = due.select("tbl_id", "part_id", "db", "tbl", "part_name").join(events, same)
    return found.groupBy("tbl_id", "part_id").agg(F.min("event_id").alias("changed_at"))


def postponed(items: DataFrame) -> DataFrame:
    """Make the rows with a `changed_at` NOT_NOW, by a rule that says why."""
    changed = F.col("changed_at").isNotNull()
    instead = {
        "cls": F.lit(ExpiryClass.NOT_NOW.value),
        "rule": F.lit(Rule.CHANGED.value),
        "detail": F.col("changed_at").cast("string"),
    }
    return items.withColumns(
        {name: F.when(changed, value).otherwise(F.col(name)) for name, value in instead.items()}
    ).drop("changed_at")
