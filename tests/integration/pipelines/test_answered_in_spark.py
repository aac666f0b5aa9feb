"""Spark's session extension answers queries from materializations that are fresh enough."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from tests.integration.pipelines.materialized.test_materialize_program import order_of, refreshed
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.iceberg_lake import IcebergLake
from tests.support.materialized_tables import EVERYTHING, PLAIN, Materialized
from tests.support.random_stored_aggregates import (
    FACT_COLUMNS,
    SHOP_COLUMNS,
    SHOPS,
    RandomAggregates,
    fact_rows,
    rows_of,
)

pytestmark = pytest.mark.spark
TABLES = "spark.lakewarden.materializations.tables"
MOST_LAG = "spark.lakewarden.materializations.max-lag-seconds"
SEED = int(os.environ.get("LW_ANSWERED_SEED", "3"))
N_QUERIES = int(os.environ.get("LW_ANSWERED_QUERIES", "24"))
SOURCE, WHERE = "default.asked_rows", "WHERE id % 7 <> 3"
USED = (
    "SELECT dt, count(*) AS n, sum(qty) AS q, avg(qty) AS a FROM {t} {w} GROUP BY dt",
    "SELECT upper(city) AS c, sum(price) AS p, avg(price) AS m FROM {t} {w} GROUP BY upper(city) "
    "HAVING count(*) > 1",
    "SELECT min(qty) AS lo, max(price) AS hi, count(qty) AS n FROM {t} {w}",
    "SELECT dt, upper(city) AS c, count(DISTINCT city) AS k, count(DISTINCT qty) AS q FROM {t} {w} "
    "GROUP BY dt, upper(city)",
    "SELECT count(*) AS n, count(DISTINCT dt) AS d FROM {t} {w} AND dt = 'd1' "
    "AND upper(city) <> 'A'",
    "SELECT * FROM (SELECT dt, max(price) AS hi FROM {t} {w} GROUP BY dt) "
    "WHERE hi > (SELECT avg(price) FROM {t} {w})",
)
UNUSED = {
    "SELECT dt, count(*) AS n FROM {t} GROUP BY dt": "it holds only rows with",
    "SELECT dt, count(DISTINCT city) AS k FROM {t} {w} GROUP BY dt": "for its own groups alone",
    "SELECT dt, count(*) AS n FROM {t} {w} AND qty > 3 GROUP BY dt": "qty is no dimension",
    "SELECT city, count(*) AS n FROM {t} {w} GROUP BY city": "city is no dimension",
    "SELECT dt, max(qty) AS n FROM {t} {w} GROUP BY dt": "it has no max of",
    "SELECT count(*) AS n FROM {t} a JOIN {t} b ON a.id = b.id WHERE a.id % 7 <> 3": "read twice",
    "SELECT dt, count(*) AS n FROM {t} {w} GROUP BY dt WITH ROLLUP": "Expand",
    "SELECT sum(DISTINCT qty) AS n FROM {t} {w}": "has no state",
}


@dataclass
class Asking:
    """A session that knows materializations by their names."""

    spark: SparkSession
    names: str

    def ask(self, sql: str) -> str:
        return sql.format(t=SOURCE, w=WHERE)

    def result(self, sql: str, *, by: str) -> tuple[list[Any], Counter[Any]]:
        self.spark.conf.set(TABLES, by)
        frame = self.spark.sql(self.ask(sql))
        return frame.dtypes, Counter(map(tuple, frame.collect()))

    def why(self, sql: str) -> str:
        self.spark.conf.set(TABLES, self.names)
        jvm: Any = self.spark.sparkContext._jvm
        return " | ".join(jvm.lakewarden.cubes.Answers.why(self.spark.sql(self.ask(sql))._jdf))

    def is_used(self, sql: str) -> bool:
        assert self.result(sql, by=self.names) == self.result(sql, by=""), sql
        return " answers: " in self.why(sql)


@dataclass
class Answered(Asking):
    """One that has a table, and what is kept of it."""

    table: ChangedHudi
    kept: Materialized

    def changed(self) -> None:
        """Have the session see what was committed."""
        self.spark.sql(f"REFRESH TABLE {SOURCE}")


@contextmanager
def known(spark: SparkSession, places: Mapping[str, str]) -> Iterator[None]:
    """Have the session know tables at some places."""
    for name, place in places.items():
        spark.sql(f"CREATE TABLE default.{name} USING hudi LOCATION '{place}'")
    try:
        yield
    finally:
        for key in (TABLES, MOST_LAG):
            spark.conf.unset(key)
        for name in places:
            spark.sql(f"DROP TABLE default.{name}")


@pytest.fixture
def answered(spark: SparkSession, tmp_path: Path) -> Iterator[Answered]:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write(some_rows(Random(5), 40))
    source = HudiSource.open(spark, "db.rows", table.location)
    kept = Materialized(spark, tmp_path / "kept", {"db.rows": source}, EVERYTHING)
    kept.asked_at = datetime.now(UTC) - timedelta(seconds=100)
    kept.refresh()
    with known(spark, {"asked_rows": table.location, "asked_kept": kept.target.location}):
        yield Answered(spark, "default.asked_kept", table, kept)


def test_what_is_kept_answers_as_the_table_does(answered: Answered) -> None:
    for sql in USED:
        assert answered.is_used(sql), answered.why(sql)
    for sql, reason in UNUSED.items():
        assert reason in answered.why(sql), (sql, answered.why(sql))
    spark = answered.spark
    frame = spark.read.format("hudi").option("as.of.instant", answered.table.instants()[0])
    at_once = frame.load(answered.table.location).where("id % 7 <> 3").groupBy("dt").count()
    spark.conf.set(TABLES, answered.names)
    jvm: Any = spark.sparkContext._jvm
    assert "with the option as.of.instant" in " ".join(
        jvm.lakewarden.cubes.Answers.why(at_once._jdf)
    )
    assert "there is no such table" in replace(answered, names="nowhere.kept").why(USED[0])


def test_the_smallest_that_fits_answers_whatever_its_place_in_the_list(
    answered: Answered, tmp_path: Path
) -> None:
    kept = answered.kept
    sql = "SELECT dt, count(*) AS n, sum(qty) AS q FROM db.rows WHERE id % 7 <> 3 GROUP BY dt"
    small = Materialized(answered.spark, tmp_path / "small", kept.sources, sql)
    small.refresh()
    assert small.target.read().count() < kept.target.read().count()
    with known(answered.spark, {"asked_small": small.target.location}):
        both = replace(answered, names="default.asked_kept,default.asked_small")
        assert both.is_used(USED[0])
        why = both.why("SELECT dt, sum(qty) AS q FROM {t} {w} GROUP BY dt")
        assert "asked_small answers: it has the newest commits" in why
        assert "asked_kept is not used: default.asked_small answers with fewer rows" in why
        # What the smaller one does not have, the other one answers.
        assert both.is_used(USED[1])
        assert "asked_kept answers: " in both.why(USED[1])


def test_what_was_committed_since_is_not_left_out_but_within_the_lag(answered: Answered) -> None:
    table, spark = answered.table, answered.spark
    before = answered.result(USED[0], by="")
    table.write(some_rows(Random(6), 15))
    table.delete([1, 2, 3])
    answered.changed()
    assert not answered.is_used(USED[0])
    assert "was written to since it was computed, asked for" in answered.why(USED[0])
    assert before != answered.result(USED[0], by="")
    spark.conf.set(MOST_LAG, "3600")
    assert answered.result(USED[0], by=answered.names) == before
    # One table is not read at two commits.
    assert "at another place" in answered.why(USED[-1])
    two = "SELECT (SELECT count(*) FROM {t} {w}) AS n, (SELECT max(price) FROM {t} {w}) AS p"
    assert not answered.is_used(two)
    spark.conf.set(MOST_LAG, "soon")
    assert "must be a number of seconds" in answered.why(USED[0])
    spark.conf.set(MOST_LAG, "50")
    assert not answered.is_used(USED[0])
    assert "and 50 s are allowed" in answered.why(USED[0])


def test_what_others_wrote_and_what_is_of_another_definition_is_not_used(
    answered: Answered,
) -> None:
    kept = answered.kept
    kept.sql = PLAIN
    kept.refresh()
    assert "is no dimension" in answered.why(USED[1])
    whole = "SELECT city, sum(qty) AS q FROM {t} GROUP BY city"
    assert answered.is_used(whole)
    own = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    taken = kept.target.read().limit(1).drop(*(f"_hoodie_{one}" for one in own))
    said = {"hoodie.table.name": "kept", "hoodie.metadata.enable": "false"}
    taken.write.format("hudi").mode("append").options(**said).save(kept.target.location)
    assert not answered.is_used(whole)
    assert "somebody else wrote commit" in answered.why(whole)
    kept.refresh(is_full=True)
    assert answered.is_used(whole)


def test_random_queries_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    makes = RandomAggregates(SEED, "db.fact", "db.shop")
    one = makes.aggregate("db.kept")
    written = {"hoodie.metadata.enable": "false", "hoodie.embed.timeline.server": "false"}
    sources: dict[str, Source] = {}
    places: dict[str, str] = {}
    for name, columns, rows in (
        ("fact", FACT_COLUMNS, fact_rows()),
        ("shop", SHOP_COLUMNS, SHOPS),
    ):
        declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        frame = spark.createDataFrame(rows, declared).coalesce(1).cache()
        frame.createOrReplaceTempView(f"plain_{name}")
        own = {"hoodie.table.name": name, "hoodie.datasource.write.operation": "bulk_insert"}
        place = f"file:{tmp_path / name}"
        frame.write.format("hudi").options(**written, **own).mode("append").save(place)
        sources[f"db.{name}"] = HudiSource.open(spark, f"db.{name}", place)
        places[f"random_{name}"] = place
    kept = Materialized(spark, tmp_path / "kept", sources, makes.built(one))
    kept.refresh()
    with known(spark, {**places, "random_kept": kept.target.location}):
        spark.conf.set(TABLES, "default.random_kept")
        queries = [makes.query(one) for _ in range(N_QUERIES)]
        used = [sql for sql in queries if n_read(spark, named(sql, "default.random_"), "kept")]
        plain = rows_of(spark, [named(sql, "plain_") for sql in used])
        kept_rows = rows_of(spark, [named(sql, "default.random_") for sql in used])
    assert len(used) > N_QUERIES // 5
    for sql, was, now in zip(used, plain, kept_rows, strict=True):
        assert was == now, sql


def named(sql: str, prefix: str) -> str:
    return re.sub(r"\bdb\.", prefix, sql)


def n_read(spark: SparkSession, sql: str, name: str) -> int:
    """Return how often a Hudi table is read by the plan of a query."""
    jdf: Any = spark.sql(sql)._jdf
    leaves = jdf.queryExecution().optimizedPlan().collectLeaves()
    places = (leaves.apply(n).relation().location() for n in range(leaves.size()))
    return sum(str(one.getBasePath()).endswith(f"/{name}") for one in places)


def test_columns_of_iceberg_are_known_by_more_than_their_names(
    iceberg_lake: IcebergLake, tmp_path: Path
) -> None:
    spark, table = iceberg_lake.spark, iceberg_lake.table()
    table.append([(1, "a", "x"), (2, "a", None), (3, "b", "y")])
    order = order_of(table, tmp_path)
    (done,) = refreshed(iceberg_lake, order)
    assert done.state == "done", done.reason
    sql = f"SELECT dt, count(*) AS n, max(id) AS high FROM lake.{table.lake.db}.{table.name}"
    with known(spark, {"iceberg_kept": order.location}):
        asked = Asking(spark, "default.iceberg_kept")
        assert asked.is_used(f"{sql} GROUP BY dt")
        table.say("ALTER TABLE {t} RENAME COLUMN id TO old_id")
        table.say("ALTER TABLE {t} ADD COLUMN id BIGINT")
        assert "fact.id is not what it was" in asked.why(f"{sql} GROUP BY dt")
        table.say("INSERT INTO {t} VALUES (7, 'a', 'x', 8)")
        assert not asked.is_used(f"{sql} GROUP BY dt")
