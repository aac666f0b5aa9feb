"""The proxy before Trino answers from materializations by what their own commits say."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlglot
from pyspark.sql import SparkSession

from optimizer.proxy.domain.statements import Statement
from optimizer.proxy.jobs.materializations import MaterializationAnswers
from optimizer.rewriting.domain.hudi_readers import HudiReader
from pipelines.commits.jobs.hudi_source import HudiSource
from stack.stack import LAKE, Stack
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.materialized_tables import Materialized

pytestmark = pytest.mark.spark
SQL = """
SELECT dt, city, count(*) AS n, min(qty) AS low, max(price) AS high
FROM db.rows WHERE id > 3 GROUP BY dt, city
"""
ANSWERED = (
    "SELECT dt, count(*) AS n, max(price) AS hi FROM hudi.db.rows WHERE id > 3 GROUP BY dt",
    "SELECT city AS c, min(qty) AS lo FROM db.rows WHERE id > 3 AND dt = 'd1' GROUP BY city",
)
LEFT = {
    "SELECT dt, count(*) AS n FROM hudi.db.rows GROUP BY dt": "db.kept: it holds only rows with",
    "SELECT dt FROM hudi.db.rows": "no aggregation of a table of this lake",
    "SELECT count(*) FROM hudi.db.others WHERE id > 3": "no aggregation of a table of this lake",
    "SELECT sum(qty) AS q FROM hudi.db.rows WHERE id > 3": "than the measure",
}


class Asked:
    """A table, its materialization, and the proxy's rewriter that knows both."""

    reader = HudiReader("hudi", newest_version=9)

    def __init__(
        self, spark: SparkSession, stack: Stack, place: Path, *, kind: str = "COPY_ON_WRITE"
    ) -> None:
        self.spark = spark
        self.table = ChangedHudi(spark, place / "rows", kind)
        self.table.write(some_rows(Random(5), 40))
        self.source = HudiSource.open(spark, "db.rows", self.table.location)
        self.kept = Materialized(spark, place / "kept", {"db.rows": self.source}, SQL)
        self.kept.asked_at = datetime.now(UTC) - timedelta(seconds=100)
        self.kept.refresh()
        self.places = {"db.rows": self.table.location, "db.kept": self.kept.target.location}
        self.config = stack.config(LAKE)

    def answers(self, seconds: int = 0) -> MaterializationAnswers:
        return MaterializationAnswers(
            self.spark,
            self.config,
            reader=self.reader,
            tables=["db.kept", "db.gone"],
            max_lag=timedelta(seconds=seconds),
            place_of=self.places.get,
        )

    def text(self, sql: str, seconds: int = 0) -> str:
        """Return what is run instead of a query; empty: the query itself."""
        found = self.answers(seconds).rewrite(statement(sql))
        return "" if found is None or found.sql == sql else found.sql

    def reason(self, sql: str, seconds: int = 0) -> str:
        """Return why a query is left as it is."""
        found = self.answers(seconds).rewrite(statement(sql))
        assert found is not None
        assert found.sql == sql, found.sql
        return found.reason

    def rows(self, sql: str) -> Counter[Any]:
        """Run Trino's text in Spark, over the tables as they are."""
        for name, place in self.places.items():
            view = name.replace(".", "_")
            self.spark.read.format("hudi").load(place).createOrReplaceTempView(view)
            sql = re.sub(rf'("?hudi"?\.)?"?db"?\."?{name[3:]}"?(?![\w"])', view, sql)
        (text,) = sqlglot.transpile(sql, read="trino", write="spark")
        return Counter(map(tuple, self.spark.sql(text).collect()))


def statement(sql: str) -> Statement:
    return Statement(sql, "hudi", "db")


def test_queries_are_answered_while_it_is_current(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    asked = Asked(spark, embedded_stack, tmp_path)
    for sql, reason in LEFT.items():
        assert reason in asked.reason(sql), asked.reason(sql)
    other = "SELECT dt, count(*) AS n FROM lake.db.rows WHERE id > 3 GROUP BY dt"
    assert asked.answers().rewrite(statement(other)) is None, "another catalog"
    for sql in ANSWERED:
        text = asked.text(sql)
        assert "kept" in text, sql
        assert asked.rows(text) == asked.rows(sql), text

    asked.table.write(some_rows(Random(6), 5))
    assert "db.rows was written to since" in asked.reason(ANSWERED[0])
    assert asked.text(ANSWERED[0], 3_600)
    asked.kept.refresh()
    text = asked.text(ANSWERED[0])
    assert text
    assert asked.rows(text) == asked.rows(ANSWERED[0])

    own = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    taken = asked.kept.target.read().limit(1).drop(*(f"_hoodie_{one}" for one in own))
    said = {"hoodie.table.name": "kept", "hoodie.metadata.enable": "false"}
    taken.write.format("hudi").mode("append").options(**said).save(asked.kept.target.location)
    assert "its newest commit is no refresh" in asked.reason(ANSWERED[0])


def test_what_the_catalog_does_not_read_is_not_answered(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    asked = Asked(spark, embedded_stack, tmp_path)
    assert asked.text(ANSWERED[0])
    asked.reader = HudiReader("hudi", newest_version=6)
    reason = "db.kept has the table version 9, and the catalog hudi reads Hudi tables up to"
    assert reason in asked.reason(ANSWERED[0], 3_600)


def test_log_files_are_left_to_an_engine_that_merges_them(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    asked = Asked(spark, embedded_stack, tmp_path, kind="MERGE_ON_READ")
    assert asked.text(ANSWERED[0]), "all its rows are in base files"
    asked.table.write([(one.id, *one[1:5]) for one in asked.table.rows()[:5]])
    asked.kept.refresh()
    left = "db.rows has rows in log files, which the catalog hudi does not read"
    assert left in asked.reason(ANSWERED[0])
    assert left in asked.reason(ANSWERED[0], 3_600)
    merging = HudiReader("hudi", newest_version=9, reads_logs=True)
    asked.reader = merging
    assert asked.text(ANSWERED[0])

    asked.reader = Asked.reader
    asked.table.compact_all()
    text = asked.text(ANSWERED[0])
    assert text, "a compaction has merged them, and changed no row"
    assert asked.rows(text) == asked.rows(ANSWERED[0])
    asked.table.compact([(one.id, *one[1:5]) for one in asked.table.rows()[:5]])
    assert "db.rows was written to since" in asked.reason(ANSWERED[0])
    asked.kept.refresh()
    assert asked.text(ANSWERED[0])
