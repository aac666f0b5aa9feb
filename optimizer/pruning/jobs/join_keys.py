"""Reads the keys that a join can find, so that they narrow the other table.

Of `fact JOIN part ON fact.partkey = part.partkey WHERE part.brand = 'x'` the keys of that brand are
read at one snapshot of `part`, and asked of the fact's files. The answer is right for that snapshot
alone, so whoever uses it pins both tables. Keys come from the smaller table, if it is not large.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.pruning.domain.conditions import WHOLE, text_literal
from optimizer.pruning.domain.queries import EqualColumns, Query, Types
from optimizer.pruning.domain.uses import TableUse
from portal.lake.names import quoted

MOST_KEYS = 10_000
MOST_ROWS = 20_000_000
"""A table of more rows is not read for its keys."""


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """What a join asks of one use: a condition (empty where it asks nothing), and in words."""

    other: int
    condition: str
    words: str


@dataclass(frozen=True)
class Joined:
    """The uses of a query as they are pinned, with their tables and conditions, by number."""

    catalog: str
    uses: Mapping[int, TableUse]
    tables: Mapping[int, IcebergTable]
    conditions: Mapping[int, str]
    types: Types

    def n_rows(self, number: int) -> int:
        """Return the rows of a use's snapshot, 0 where its writer does not say."""
        snapshot = self.tables[number].java.snapshot(self.uses[number].snapshot)
        return int((snapshot.summary() or {}).get("total-records") or 0)


def join_keys(
    spark: SparkSession, query: Query, joined: Joined, *, most: int = MOST_KEYS
) -> dict[int, list[JoinKeys]]:
    """Return what joins ask of each use, by its number."""
    found: dict[int, list[JoinKeys]] = {}
    for pair in query.equal_columns(joined.types):
        if _may_be_read(pair, joined):
            found.setdefault(pair.number, []).append(_keys(spark, pair, joined, most))
    return found


def _may_be_read(pair: EqualColumns, joined: Joined) -> bool:
    uses = [joined.uses.get(number) for number in (pair.number, pair.other)]
    if any(use is None or use.whole or not use.snapshot for use in uses):
        return False
    if not joined.conditions.get(pair.other):
        return False
    kinds = [
        joined.types[pair.number].get(pair.column, ""),
        joined.types[pair.other].get(pair.other_column, ""),
    ]
    # Engines compare these alike; of other types they differ in casts, padding or NaN.
    if not (set(kinds) <= set(WHOLE) or kinds == ["string", "string"]):
        return False
    n_rows = joined.n_rows(pair.other)
    return 0 < n_rows <= MOST_ROWS and n_rows < joined.n_rows(pair.number)


def _keys(spark: SparkSession, pair: EqualColumns, joined: Joined, most: int) -> JoinKeys:
    use = joined.uses[pair.other]
    name = f"{joined.catalog}.{quoted(use.db)}.{quoted(use.table)}"
    column = quoted(pair.other_column)
    words = ["SELECT DISTINCT", column, "AS k FROM", name, f"VERSION AS OF {use.snapshot}"]
    # The condition was written by `conditions.py`, from constants and quoted names alone.
    words += ["WHERE", column, "IS NOT NULL AND", joined.conditions[pair.other]]
    with clear_errors(use.name):
        rows = spark.sql(" ".join([*words, f"LIMIT {most + 1}"])).collect()
    said = f"{pair.column} = {use.alias}.{pair.other_column}"
    if len(rows) > most:
        reason = f"more than {most:,} keys fit, so this join narrows nothing"
        return JoinKeys(pair.other, "", f"{said}: {reason}")
    literals = [
        text_literal(row["k"]) if isinstance(row["k"], str) else str(row["k"]) for row in rows
    ]
    listed = ", ".join(sorted(literals))
    condition = f"({quoted(pair.column)} IN ({listed}))" if listed else "(1 = 0)"
    found = f"{len(rows):,} keys of {use.name} at snapshot {use.snapshot}"
    return JoinKeys(pair.other, condition, f"{said}: {found}")
