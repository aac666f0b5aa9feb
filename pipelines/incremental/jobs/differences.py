"""Says which rows of a target are written and which are taken away.

Of a layer without a version each key of the result is of one row at most; of one with a version the
row with the greatest stays, and where that went the key is made again from all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from pipelines.incremental.domain.messages import Range
from portal.lake.errors import RuleViolation


@dataclass(frozen=True)
class Differences:
    """Rows to write, and keys whose rows go."""

    upserts: DataFrame
    deletes: DataFrame


def of_changes(minus: DataFrame, plus: DataFrame, key: Sequence[str]) -> Differences:
    """Return what changed rows of a source mean, each key of which is of one row.

    Raises:
        RuleViolation: `layer.key_not_unique`, `layer.key_null`.
    """
    check_keys(plus, key)
    return Differences(_changed(plus, minus, key), _without(minus, plus, key))


def met_others(plus: DataFrame, minus: DataFrame, current: DataFrame, key: Sequence[str]) -> bool:
    """Return whether new keys of changed rows are those of other rows of the target.

    Where the source does not tell its rows apart by the key, those may be rows that did not change.
    """
    new = _within(_without(plus, minus, key), current, key)
    return not _changed(new, current, key).isEmpty()


def of_versions(
    minus: DataFrame, plus: DataFrame, every: DataFrame, current: DataFrame, rule: "Greatest"
) -> Differences:
    """Return what changed rows mean where of each key the row with the greatest version stays.

    `every` are all rows of the result now; they are read where a row went.
    """
    gone = minus.select(*_columns(rule.key)).distinct()
    again = rule.of(_within(every, gone, rule.key))
    newer = rule.of(_without(plus, gone, rule.key))
    known = rule.of(_within(current, newer, rule.key).select(*_columns(newer.columns)))
    winners = rule.of(newer.unionByName(known))
    check_keys(winners, rule.key)
    upserts = _changed(again.unionByName(winners), current, rule.key)
    return Differences(upserts, _without(gone, again, rule.key))


def of_all(
    result: DataFrame,
    current: DataFrame | None,
    key: Sequence[str],
    *,
    within: Column | None = None,
) -> Differences:
    """Return what makes a target equal to a result; with `within` only what concerns such rows.

    A row that moved into such rows or out of them is written as it is now.

    Raises:
        RuleViolation: `layer.key_not_unique`, `layer.key_null`.
    """
    check_keys(result, key)
    if current is None:
        return Differences(result, result.limit(0))
    known = current
    if within is not None:
        known = current.where(within)
        moved = _within(result.where(~within | within.isNull()), known, key)
        deletes = _without(known, result, key)
        wanted = result.where(within).unionByName(moved)
        return Differences(_changed(wanted, current, key), deletes)
    return Differences(_changed(result, known, key), _without(known, result, key))


def in_range(result: DataFrame, partition: str, wanted: Range) -> Column:
    """Return the condition of rows in some partitions, compared as the partition's type does.

    Raises:
        RuleViolation: `layer.range`, a bound is no value of that type, or they are in no order.
    """
    column = F.col(f"`{partition}`")
    kind = result.schema[partition].dataType
    low, high = (F.lit(value).cast(kind) for value in (wanted.low, wanted.high))
    one_row = result.sparkSession.range(1)
    (in_order,) = one_row.select(low <= high).first() or (None,)
    if not in_order:
        raise RuleViolation(
            "layer.range",
            f"{wanted.low} to {wanted.high} is no range of {partition}, which is "
            f"{kind.simpleString()}.",
        )
    return column.between(low, high)


@dataclass(frozen=True)
class Greatest:
    """Of rows with one key keeps that with the greatest version; of equal ones the greater row."""

    key: tuple[str, ...]
    version: str

    def of(self, rows: DataFrame) -> DataFrame:
        """Return the rows that stay."""
        others = [one for one in rows.columns if one not in (*self.key, self.version)]
        last = F.max(F.struct(*_columns((self.version, *others)))).alias("_last")
        found = rows.groupBy(*_columns(self.key)).agg(last)
        fields = [F.col(f"_last.`{one}`").alias(one) for one in (self.version, *others)]
        return found.select(*_columns(self.key), *fields).select(*_columns(rows.columns))


def check_keys(rows: DataFrame, key: Sequence[str]) -> None:
    """Refuse rows of which two have one key, or one has none.

    Raises:
        RuleViolation: `layer.key_not_unique`, `layer.key_null`.
    """
    is_null = reduce(or_, (F.col(f"`{one}`").isNull() for one in key))
    counted = rows.groupBy(*_columns(key)).agg(F.count(F.lit(1)).alias("n"))
    found = counted.agg(
        F.coalesce(F.sum(F.when(is_null, F.col("n"))), F.lit(0)).alias("n_null"),
        F.coalesce(F.sum((F.col("n") > 1).cast("long")), F.lit(0)).alias("n_twice"),
    ).collect()[0]
    named = ", ".join(key)
    if found["n_null"]:
        raise RuleViolation(
            "layer.key_null",
            f"{found['n_null']:,} rows of the result have no {named}.",
            field="key",
        )
    if found["n_twice"]:
        raise RuleViolation(
            "layer.key_not_unique",
            f"{found['n_twice']:,} keys ({named}) are of several rows of the result. Add columns "
            "to the key, or name the column whose greatest value stays.",
            field="key",
        )


def _changed(rows: DataFrame, before: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the rows that are not the same under their key in `before`."""
    names = rows.columns
    if any(_has_map(one.dataType) for one in rows.schema):
        return rows  # maps cannot be compared
    known = before.select(
        *(F.col(f"`{one}`").alias(f"_b_{n}") for n, one in enumerate(names) if one in key),
        F.struct(*_columns(names)).alias("_before"),
    )
    same = [
        F.col(f"`{one}`").eqNullSafe(F.col(f"_b_{n}")) for n, one in enumerate(names) if one in key
    ]
    joined = rows.withColumn("_now", F.struct(*_columns(names))).join(
        known, reduce(and_, same), "left"
    )
    is_same = F.col("_before").isNotNull() & F.col("_now").eqNullSafe(F.col("_before"))
    return joined.where(~is_same).select(*_columns(names))


def _without(rows: DataFrame, others: DataFrame, key: Sequence[str]) -> DataFrame:
    return rows.join(others.select(*_columns(key)).distinct(), list(key), "left_anti").select(
        *_columns(rows.columns)
    )


def _within(rows: DataFrame, others: DataFrame, key: Sequence[str]) -> DataFrame:
    return rows.join(others.select(*_columns(key)).distinct(), list(key), "left_semi").select(
        *_columns(rows.columns)
    )


def _columns(names: Sequence[str]) -> list[Column]:
    return [F.col(f"`{one}`") for one in names]


def _has_map(of: DataType) -> bool:
    match of:
        case MapType():
            return True
        case ArrayType():
            return _has_map(of.elementType)
        case StructType():
            return any(_has_map(one.dataType) for one in of)
        case _:
            return False
