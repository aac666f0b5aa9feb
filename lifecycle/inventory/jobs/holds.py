"""Which rows are held, and by what, in words: holds of a database, a table or one partition."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.inventory.jobs.tables import Table

Key = tuple[str, str, str]


class Holds:
    """The standing holds of one scan; the first of several on one thing is named."""

    def __init__(
        self, spark: SparkSession, holds: Iterable[Mapping[str, Any]], *, now: datetime
    ) -> None:
        self._spark = spark
        self._words: dict[Key, str] = {}
        for hold in holds:
            until = hold.get("until")
            if until is None or _instant(until, now) >= now:
                words = _words(hold)
                for partition in hold["partitions"] or ("",):
                    key = (hold["db"], hold["table"], partition)
                    self._words.setdefault(key, words)

    def of_table(self, table: Table) -> str:
        """Return the hold on a table or its database, or ''."""
        return self._words.get((table.db, table.name, "")) or self._words.get(
            (table.db, "", ""), ""
        )

    def join_to(self, items: DataFrame) -> DataFrame:
        """Add `hold`, '' where there is none; needs `db`, `tbl`, `part_name`, `table_hold`."""
        rows = [(*key, words) for key, words in self._words.items() if key[2]]
        if not rows:
            return items.withColumnRenamed("table_hold", "hold")
        schema = "db string, tbl string, part_name string, part_hold string"
        held = self._spark.createDataFrame(rows, schema)
        joined = items.join(F.broadcast(held), ["db", "tbl", "part_name"], "left")
        hold = F.coalesce(F.nullif("table_hold", F.lit("")), "part_hold", F.lit(""))
        return joined.withColumn("hold", hold).drop("table_hold", "part_hold")


def _instant(text: str, now: datetime) -> datetime:
    """Read an instant, or a day whose end has not come yet in the zone of `now`."""
    found = datetime.fromisoformat(text)
    if len(text) == len("2026-01-01"):
        found = found.replace(hour=23, minute=59, second=59)
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)


def _words(hold: Mapping[str, Any]) -> str:
    kind = str(hold.get("kind") or "").lower()
    end = f"until {str(hold['until'])[:10]}" if hold.get("until") else "until it is released"
    said = f"{kind} hold {end}".strip()
    return f"{said}: {hold['reason']}" if hold.get("reason") else said
