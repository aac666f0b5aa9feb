"""Joins whose keys are found while they run: files without one are not read, no row is lost."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.integration.optimizer.indexes.test_indexed_catalog import FILES, write_rows
from tests.support.indexed_tables import IndexedTable, IndexedTables

DPP = "spark.sql.optimizer.dynamicPartitionPruning"
STAR = (
    "SELECT f.id, f.name, d.word FROM {t} f JOIN plain.star.dim d ON f.id = d.id "
    "WHERE d.word = 'rare'"
)
ALIKE = (
    "SELECT * FROM {t} f JOIN plain.star.right d ON f.part = d.part AND f.id = d.id WHERE {where}"
)
ANTI = "SELECT * FROM {t} f LEFT ANTI JOIN plain.star.dim d ON f.id = d.id AND d.word = 'rare'"
KINDS = {
    "id": ["bloom"],
    "name": ["bloomrf", "bloom"],
    "level": ["bitmap"],
    "message": ["ngram_bloom"],
}


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    lake = IndexedTables.under(spark, tmp_path_factory.mktemp("joins"))
    lake.sql(
        "CREATE TABLE {t} (id BIGINT, name STRING, word STRING) USING iceberg", table="star.dim"
    )
    lake.spark.range(0, 400, 1, 1).selectExpr(
        "id * 10 + 7 AS id",
        "CASE WHEN id % 3 = 0 THEN NULL ELSE concat('u', id) END AS name",
        "CASE WHEN id % 100 = 3 THEN 'rare' ELSE 'usual' END AS word",
    ).writeTo("plain.star.dim").append()
    return lake


@pytest.fixture(scope="module")
def facts(lake: IndexedTables) -> IndexedTable:
    write_rows(lake, "star.facts")
    return lake.table("star.facts").index(KINDS)


@pytest.fixture
def settings(lake: IndexedTables) -> Iterator[Mapping[str, str]]:
    """Settings of Spark for one test; taken back after it."""
    yield {}
    for key in (
        "spark.sql.adaptive.enabled",
        "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.exchange.reuse",
        f"{DPP}.enabled",
        f"{DPP}.reuseBroadcastOnly",
    ):
        lake.spark.conf.unset(key)


def _asked(lake: IndexedTables, facts: IndexedTable, query: str) -> tuple[int, int] | None:
    """Run a query through both catalogs; return files dropped and asked by the join, if it did."""
    before = lake.catalog.reports()
    lake.same(query, table=facts.name)
    new = [one for one in lake.catalog.reports() if one not in before]
    joins = [one for one in new if one.isOfJoin()]
    return (joins[-1].dropped(), joins[-1].files()) if joins else None


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_star_join_opens_only_files_that_may_hold_a_key(
    lake: IndexedTables, facts: IndexedTable, settings: Mapping[str, str], adaptive: str
) -> None:
    lake.spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    asked = _asked(lake, facts, STAR)
    assert asked is not None
    # Two of the four keys are there; a filter may let another file pass.
    assert asked[1] == FILES
    assert FILES - 3 <= asked[0] <= FILES - 2
    frame = lake.sql(STAR, table=facts.name, catalog="indexed")
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan().toString()
    told = f"join filters: {asked[0]} of {FILES} files dropped by {{bloom of id={asked[0]}}}"
    assert told in plan


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {t} f WHERE f.id IN (SELECT id FROM plain.star.dim WHERE word = 'rare')",
        "SELECT * FROM {t} f LEFT SEMI JOIN plain.star.dim d ON f.id = d.id AND d.word = 'rare'",
        "SELECT * FROM plain.star.dim d LEFT JOIN {t} f ON f.id = d.id WHERE d.word = 'rare'",
        "SELECT * FROM {t} f JOIN plain.star.dim d ON f.id = d.id AND f.name = d.name "
        "WHERE d.word = 'rare'",
        "SELECT count(*), max(f.price) FROM {t} f JOIN plain.star.dim d ON f.name = d.name "
        "WHERE d.id < 50",
        "SELECT * FROM {t} f JOIN plain.star.dim d ON f.id = d.id WHERE d.word = 'nowhere'",
        "SELECT * FROM {t} f JOIN plain.star.dim d ON f.id = d.id WHERE d.word = 'rare' "
        "AND f.level = 'L2'",
        "SELECT * FROM {t} f JOIN {t} g ON f.id = g.id WHERE g.message LIKE '%w13 took%'",
        "SELECT * FROM {t} f JOIN plain.star.dim d ON f.level <=> d.name WHERE d.id = 7",
    ],
)
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_joins_that_ask_indexes_lose_no_row(
    lake: IndexedTables,
    facts: IndexedTable,
    settings: Mapping[str, str],
    query: str,
    adaptive: str,
) -> None:
    lake.spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    _asked(lake, facts, query)


@pytest.mark.parametrize(
    ("changed", "query"),
    [
        # Without a condition on the dimension Spark expects nothing of it.
        ({}, STAR.replace("WHERE d.word = 'rare'", "")),
        # An outer join needs every row of the facts; an anti join too.
        ({}, STAR.replace(" JOIN", " LEFT JOIN").replace("WHERE d.word", "AND d.word")),
        ({}, ANTI),
        # The column has an index of words only, or none.
        ({}, STAR.replace("f.id = d.id", "f.message = d.word")),
        ({}, STAR.replace("f.id = d.id", "f.part = d.id")),
        # A cast of the fact's column is no column.
        ({}, STAR.replace("f.id = d.id", "CAST(f.id AS STRING) = d.name")),
        # No broadcast whose keys could be used again: Spark would have to read the dimension twice.
        ({"spark.sql.autoBroadcastJoinThreshold": "-1"}, STAR),
        ({"spark.sql.exchange.reuse": "false"}, STAR),
        ({f"{DPP}.enabled": "false"}, STAR),
    ],
)
def test_when_spark_hands_on_no_keys(
    lake: IndexedTables,
    facts: IndexedTable,
    settings: Mapping[str, str],
    changed: Mapping[str, str],
    query: str,
) -> None:
    for key, value in changed.items():
        lake.spark.conf.set(key, value)
    assert _asked(lake, facts, query) is None


def test_a_join_without_broadcast_asks_where_spark_may_read_the_dimension_twice(
    lake: IndexedTables, settings: Mapping[str, str]
) -> None:
    # Spark compares bytes: the facts must be larger than what finding the keys costs.
    write_rows(lake, "star.many", rows=40_000)
    facts = lake.table("star.many").index({"id": ["bloom"]})
    lake.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    lake.spark.conf.set(f"{DPP}.reuseBroadcastOnly", "false")
    asked = _asked(lake, facts, STAR)
    assert asked is not None
    assert asked[0] > FILES / 2


@pytest.mark.usefixtures("facts")
def test_too_many_keys_are_not_asked(spark: SparkSession, lake: IndexedTables) -> None:
    few = IndexedTables.under(spark, lake.root, join_values="1")
    few.sql("SHOW NAMESPACES IN {c}", catalog="indexed").collect()
    facts = few.table("star.facts")
    assert _asked(few, facts, STAR) == (0, 0)
    assert few.report_of_join().tooManyValues() == 1


def test_a_join_of_tables_that_are_laid_out_alike_keeps_its_partitions(
    lake: IndexedTables, settings: Mapping[str, str]
) -> None:
    """Spark arranges such a join by partitions; the files of one may all be dropped."""
    for name in ("star.left", "star.right"):
        lake.sql(
            "CREATE TABLE {t} (id BIGINT, part INT, name STRING) USING iceberg "
            "PARTITIONED BY (part)",
            table=name,
        )
        lake.spark.range(0, 90, 1, 3).selectExpr(
            "id", "CAST(id % 3 AS INT) part", "concat('n', id) name"
        ).sortWithinPartitions("part").writeTo(f"plain.{name}").append()
    left = lake.table("star.left").index({"id": ["bitmap"], "name": ["bitmap"]})
    jvm: Any = lake.spark._jvm
    bucket = jvm.org.apache.iceberg.expressions.Expressions.bucket("id", 2)
    left.java.updateSpec().addField(bucket).commit()
    lake.sql("INSERT INTO {t} VALUES (500, 1, 'n500'), (501, 2, 'n501')", table=left.name)
    grouped = {
        "spark.sql.sources.v2.bucketing.enabled": "true",
        "spark.sql.iceberg.planning.preserve-data-grouping": "true",
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
    }
    for key, value in grouped.items():
        lake.spark.conf.set(key, value)
    try:
        for where in ("d.name = 'n7'", "d.name = 'nowhere'", "d.part = 1 AND d.id > 80"):
            for broadcast in ("-1", "10MB"):
                lake.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", broadcast)
                lake.spark.conf.set(f"{DPP}.reuseBroadcastOnly", "false")
                lake.same(ALIKE, table=left.name, where=where)
    finally:
        for key in grouped:
            lake.spark.conf.unset(key)
