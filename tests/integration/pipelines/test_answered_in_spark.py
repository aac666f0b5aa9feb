"""Spark's session extension answers queries from materializations, and from nothing that is not so."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipelines.commits.jobs.hudi_source import HudiSource
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.materialized_tables import EVERYTHING, Materialized

pytestmark = pytest.mark.spark
TABLES = "spark.lakewarden.materializations.tables"
MOST_LAG = "spark.lakewarden.materializations.max-lag-seconds"
WHERE = "WHERE id % 7 <> 3"
USED = (
    "SELECT dt, count(*) AS n, sum(qty) AS q, avg(qty) AS a FROM {t} {w} GROUP BY dt",
    "SELECT upper(city) AS c, sum(price) AS p, avg(price) AS m FROM {t} {w} GROUP BY upper(city) "
    "HAVING count(*) > 1",
    "SELECT min(qty) AS lo, max(price) AS hi, count(qty) AS n FROM {t} {w}",
    "SELECT dt, upper(city) AS c, count(DISTINCT city) AS k, count(DISTINCT qty) AS q FROM {t} {w} "
    "GROUP BY dt, upper(city)",
    "SELECT count(*) AS n, count(DISTINCT dt) AS d FROM {t} {w} AND dt = 'd1' AND upper(city) <> 'A'",
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
    "SELECT count(*) AS n FROM {t} TIMESTAMP AS OF '{first}' {w}": "",
}


@dataclass
class Answered:
    """A session that knows a table, and what is kept of it."""

    spark: SparkSession
    table: ChangedHudi
    kept: Materialized
    names: str

    @property
    def source(self) -> str:
        return "default.asked_rows"

    def refresh(self) -> None:
        self.kept.refresh()

    def changed(self) -> None:
        """Have the session see what was committed."""
        self.spark.sql(f"REFRESH TABLE {self.source}")

    def ask(self, sql: str) -> str:
        return sql.format(t=self.source, w=WHERE, first="")

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


@pytest.fixture
def answered(spark: SparkSession, tmp_path: Path) -> Iterator[Answered]:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write(some_rows(Random(5), 40))
    source = HudiSource.open(spark, "db.rows", table.location)
    kept = Materialized(spark, tmp_path / "kept", {"db.rows": source}, EVERYTHING)
    kept.refresh()
    for name, place in (("asked_rows", table.location), ("asked_kept", f"file:{kept.place}")):
        spark.sql(f"DROP TABLE IF EXISTS default.{name}")
        spark.sql(f"CREATE TABLE default.{name} USING hudi LOCATION '{place}'")
    yield Answered(spark, table, kept, "default.asked_kept")
    for key in (TABLES, MOST_LAG):
        spark.conf.unset(key)
    for name in ("asked_rows", "asked_kept"):
        spark.sql(f"DROP TABLE default.{name}")


def test_what_is_kept_answers_as_the_table_does(answered: Answered) -> None:
    for sql in USED:
        assert answered.is_used(sql), answered.why(sql)
