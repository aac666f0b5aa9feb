"""Rows in the order of a layout, by real Spark: all types, each key computed once, files even."""

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from optimizer.core.jobs.java_columns import JavaColumns
from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.layouts import Layout, LayoutKind, parse_layout
from optimizer.iceberg.rewrite.jobs.boundary_sample import take_sample
from optimizer.iceberg.rewrite.jobs.row_ordering import clustered
from portal.lake.errors import RuleViolation

NAN, INF = float("nan"), float("inf")
# Each ascending as Spark orders it, after a null.
TYPES: dict[str, tuple[str, list[Any]]] = {
    "yes": ("boolean", [False, True]),
    "small": ("smallint", [-300, 0, 7]),
    "big": ("bigint", [-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1]),
    "real": ("double", [-INF, -1.5, 0.0, 1e-300, INF, NAN]),
    "price": ("decimal(18,2)", [Decimal("-1e15"), Decimal("-0.01"), Decimal("0.10"), Decimal(7)]),
    "wide": ("decimal(38,3)", [Decimal("-1e34"), Decimal("-0.001"), Decimal("1e30")]),
    "day": ("date", [date(1582, 10, 15), date(1969, 12, 31), date(2026, 11, 22)]),
    "at": (
        "timestamp",
        [datetime(1901, 1, 1, tzinfo=UTC), datetime(2026, 11, 22, 23, 59, 59, 999999, tzinfo=UTC)],
    ),
    "local": (
        "timestamp_ntz",
        [
            datetime.fromisoformat("1950-01-01"),
            datetime.fromisoformat("2026-01-01T00:00:00.000001"),
        ],
    ),
    "a`b.c": ("string", ["", "B", "a", "é", "日本", "\U0001f600"]),
}


def frame(spark: SparkSession, n_rows: int = 20_000) -> DataFrame:
    """Two columns that have nothing to do with each other, one of few texts, and a row's number."""
    rows = spark.range(n_rows, numPartitions=3)
    return rows.select(
        "id",
        F.expr("hash(id, 1) % 10000").alias("a"),
        F.expr("concat('s', hash(id, 2) % 50)").alias("b"),
    )


def files(df: DataFrame) -> list[list[Any]]:
    return df.rdd.glom().collect()


@pytest.mark.parametrize("column", TYPES)
def test_ids_follow_the_order_of_spark_for_every_type(spark: SparkSession, column: str) -> None:
    spark_type, values = TYPES[column]
    rows = [(n, value) for n, value in enumerate([None, *values])]
    name = column.replace("`", "``")
    df = spark.createDataFrame(rows, f"n int, `{name}` {spark_type}")
    sample = take_sample(df, [column, "n"])
    boundaries = Boundaries.from_dict(sample.boundaries(n_ids=64).as_dict())
    rank = boundaries.ranks()[0]
    found = rank(sample.values[0], is_null=sample.nulls & 1 == 1)
    in_order = found[np.argsort(sample.values[1])].tolist()
    assert in_order == sorted(set(in_order))
    assert in_order[0] == 0


@pytest.mark.parametrize("text", ["hilbert(a,b)", "zorder(a,b)", "sort(a,b)", "hilbert(b)"])
def test_rows_are_spread_evenly_in_order_and_none_is_lost(spark: SparkSession, text: str) -> None:
    df, layout = frame(spark), parse_layout(text)
    boundaries = take_sample(df, layout.columns).boundaries()
    found = clustered(df, layout=layout, boundaries=boundaries, n_files=8)
    assert found.columns == df.columns
    parts = files(found)
    assert sorted(row.id for part in parts for row in part) == list(range(20_000))
    if text != "hilbert(b)":
        assert len(parts) == 8
        assert max(map(len, parts)) <= 3000
    first = {layout.columns[0]: [sorted(row[layout.columns[0]] for row in part) for part in parts]}
    if layout.kind is LayoutKind.SORT or len(layout.columns) == 1:
        values = [part for part in first[layout.columns[0]] if part]
        assert all(here[-1] <= later[0] for here, later in pairwise(values))


def test_a_curve_leaves_every_column_in_few_files(spark: SparkSession) -> None:
    df = frame(spark)
    boundaries = take_sample(df, ["a", "b"]).boundaries()
    layout = parse_layout("hilbert(a,b)")
    parts = files(clustered(df, layout=layout, boundaries=boundaries, n_files=16))
    opened = {
        column: np.mean(
            [
                sum(min(part) <= value <= max(part) for part in columns)
                for value in {value for part in columns for value in part}
            ]
        )
        for column in ("a", "b")
        for columns in [[[row[column] for row in part] for part in parts]]
    }
    # A perfect square of 16 files has 4 of them in a row.
    assert max(opened.values()) <= 6


def test_a_key_is_computed_once_a_row(spark: SparkSession) -> None:
    df, layout = frame(spark), parse_layout("hilbert(a,b)")
    boundaries = take_sample(df, ["a", "b"]).boundaries()
    found = clustered(df, layout=layout, boundaries=boundaries, n_files=4)
    counted = found._jdf.queryExecution().executedPlan().toString().count("ArrowEvalPython")
    assert counted == 1
    assert found.rdd.count() == 20_000
    plan = found._jdf.queryExecution().executedPlan()
    nodes, rows = [plan], []
    while nodes:
        node = nodes.pop()
        children = node.children()
        nodes += [children.apply(n) for n in range(children.size())]
        if node.nodeName() == "ArrowEvalPython":
            rows.append(node.metrics().apply("pythonNumRowsReceived").value())
    assert rows == [20_000]


def test_one_skewed_value_and_an_empty_frame(spark: SparkSession) -> None:
    layout = Layout(LayoutKind.HILBERT, ("a", "b"))
    skewed = frame(spark).select(
        "id",
        F.when(F.col("id") % 100 == 0, F.col("a")).otherwise(F.lit(5)).alias("a"),
        F.lit(None).cast("string").alias("b"),
    )
    for df, n_rows in ((skewed, 20_000), (skewed.where("false"), 0)):
        boundaries = take_sample(df, layout.columns).boundaries()
        parts = files(clustered(df, layout=layout, boundaries=boundaries, n_files=5))
        assert sum(map(len, parts)) == n_rows
        assert max(map(len, parts), default=0) <= 6000


def test_boundaries_of_another_layout_or_type_are_refused(spark: SparkSession) -> None:
    df, layout = frame(spark), parse_layout("hilbert(a,b)")
    boundaries = take_sample(df, layout.columns).boundaries()
    changed = df.withColumn("a", F.col("a").cast("string"))
    for rows, wanted in ((df, parse_layout("hilbert(b,a)")), (changed, layout)):
        with pytest.raises(RuleViolation, match="new sample") as refused:
            clustered(rows, layout=wanted, boundaries=boundaries, n_files=2)
        assert refused.value.code == "boundaries.other"
    with pytest.raises(RuleViolation, match="names x, which"):
        take_sample(df, ["x"])


def test_texts_come_from_java_as_they_are_whatever_signs_they_hold(spark: SparkSession) -> None:
    columns = JavaColumns(spark)
    texts = ["a", "", "b\x1ec", "\x1e", "d\ne", "null", "\U0001f600"]
    for n in range(len(texts) + 1):
        found: Any = columns.jvm.java.util.ArrayList()
        for text in texts[:n]:
            found.add(text)
        assert columns.read(found) == texts[:n]
