"""Random queries give the same rows and types from stored aggregates as from their tables."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession

from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.answers import rewrite
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from portal.lake.aggregates import SourceCommit
from tests.support.random_stored_aggregates import (
    FACT_COLUMNS,
    SHOP_COLUMNS,
    SHOPS,
    RandomAggregates,
    fact_rows,
    rows_of,
)

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
N_CASES = int(os.environ.get("LW_AGGREGATE_CASES", "1000"))
N_AGGREGATES, AT_ONCE = 20, 20
FACT, SHOP = "global_temp.sa_fact", "global_temp.sa_shop"


def _make_tables(spark: SparkSession) -> dict[str, TableFacts]:
    for name, columns, given in ((FACT, FACT_COLUMNS, fact_rows()), (SHOP, SHOP_COLUMNS, SHOPS)):
        declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        _show(spark.createDataFrame(given, declared), name)
    return {
        FACT: TableFacts(FACT, "f", 1, columns=FACT_COLUMNS),
        SHOP: TableFacts(SHOP, "s", 2, columns=SHOP_COLUMNS),
    }


def _show(rows: DataFrame, name: str) -> None:
    """Keep rows in memory under a name with a database, which needs no catalog of tables."""
    rows.coalesce(1).cache().createOrReplaceGlobalTempView(name.partition(".")[2])


@pytest.fixture
def quick(spark: SparkSession) -> Iterator[SparkSession]:
    """A session that plans tiny tables quickly."""
    settings = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    spark.catalog.clearCache()
    for key, known in before.items():
        spark.conf.set(key, str(known))


def test_random_queries_give_the_same_rows_from_aggregates_with_conditions(
    quick: SparkSession,
) -> None:
    tables = _make_tables(quick)
    commits = {FACT: SourceCommit("f", "1"), SHOP: SourceCommit("s", "2")}
    makes = RandomAggregates(23, FACT, SHOP)
    answered, checked = 0, 0
    for n in range(N_AGGREGATES):
        one = makes.aggregate(f"global_temp.sa_{n}")
        _show(quick.sql(makes.built(one)), one.table)
        whole = replace(one, commits=commits, known_at=NOW)
        cube = aggregate_facts(whole, tables, max_lag=None, now=NOW)
        known = {**tables, FACT: replace(tables[FACT], cubes=(cube,))}
        cases = []
        for _ in range(N_CASES // N_AGGREGATES):
            given = makes.query(one)
            answer = rewrite(given, Session("spark", time_zone="UTC"), known)
            checked += 1
            if answer.is_rewritten:
                cases.append((given, answer.sql))
        answered += len(cases)
        for start in range(0, len(cases), AT_ONCE):
            some = cases[start : start + AT_ONCE]
            rows = rows_of(quick, [query for case in some for query in case])
            for case, rows_given, rows_written in zip(some, rows[::2], rows[1::2], strict=True):
                assert rows_given == rows_written, case
    assert checked == N_CASES
    assert answered > N_CASES // 4, f"{answered} of {N_CASES} were answered"
