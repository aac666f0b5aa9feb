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
LEFT = (
    "SELECT dt, count(*) AS n FROM hudi.db.rows GROUP BY dt",
    "SELECT dt, count(*) AS n FROM lake.db.rows WHERE id > 3 GROUP BY dt",
    "SELECT dt FROM hudi.db.rows",
    "SELECT count(*) FROM hudi.db.others WHERE id > 3",
)


class Asked:
    """A table, its materialization, and the proxy's rewriter that knows both."""

    def __init__(self, spark: SparkSession, stack: Stack, place: Path) -> None:
        self.spark = spark
        self.table = ChangedHudi(spark, place / "rows")
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
            catalog="hudi",
            tables=["db.kept", "db.gone"],
            max_lag=timedelta(seconds=seconds),
            place_of=self.places.get,
        )

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
    answers = asked.answers()
    for sql in LEFT:
        assert answers.rewrite(statement(sql)) is None, sql
    for sql in ANSWERED:
        found = answers.rewrite(statement(sql))
        assert found is not None, sql
        assert "kept" in found.sql
        assert asked.rows(found.sql) == asked.rows(sql), found.sql

    asked.table.write(some_rows(Random(6), 5))
    assert answers.rewrite(statement(ANSWERED[0])) is None, "it is behind"
    assert asked.answers(3_600).rewrite(statement(ANSWERED[0])) is not None
    asked.kept.refresh()
    found = answers.rewrite(statement(ANSWERED[0]))
    assert found is not None
    assert asked.rows(found.sql) == asked.rows(ANSWERED[0])

    own = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    taken = asked.kept.target.read().limit(1).drop(*(f"_hoodie_{one}" for one in own))
    said = {"hoodie.table.name": "kept", "hoodie.metadata.enable": "false"}
    taken.write.format("hudi").mode("append").options(**said).save(asked.kept.target.location)
    assert answers.rewrite(statement(ANSWERED[0])) is None, "somebody else wrote to it"
