"""Queries give the same from a materialization as from its table, after each of its refreshes."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.rewriting.domain.answers import rewrite
from optimizer.rewriting.domain.session import Session
from pipelines.commits.jobs.hudi_source import HudiSource
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.materialized_tables import EVERYTHING, Materialized, known_of

pytestmark = pytest.mark.spark
SOURCE, KEPT = "global_temp.rows_of_m", "global_temp.kept_of_m"
WHERE = "WHERE id % 7 <> 3"
QUERIES = (
    f"SELECT dt, count(*) AS n, sum(qty) AS q, avg(qty) AS a FROM {SOURCE} {WHERE} GROUP BY dt",
    f"SELECT upper(city) AS c, sum(price) AS p, avg(price) AS m FROM {SOURCE} {WHERE} "
    "GROUP BY upper(city) HAVING count(*) > 1",
    f"SELECT min(qty) AS lo, max(price) AS hi, count(qty) AS n FROM {SOURCE} {WHERE}",
    f"SELECT dt, upper(city) AS c, count(DISTINCT city) AS k, count(DISTINCT qty) AS q "
    f"FROM {SOURCE} {WHERE} GROUP BY dt, upper(city)",
    f"SELECT count(*) AS n FROM {SOURCE} {WHERE} AND dt = 'd1' AND upper(city) <> 'A'",
)
REFUSED = (
    f"SELECT dt, count(*) AS n FROM {SOURCE} GROUP BY dt",
    f"SELECT dt, count(DISTINCT city) AS k FROM {SOURCE} {WHERE} GROUP BY dt",
    f"SELECT dt, count(*) AS n FROM {SOURCE} {WHERE} AND qty > 3 GROUP BY dt",
)


def result(spark: SparkSession, sql: str) -> tuple[list[Any], Counter[Any]]:
    frame = spark.sql(sql)
    return frame.dtypes, Counter(map(tuple, frame.collect()))


def test_queries_give_the_same_after_each_refresh(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(5)
    table = ChangedHudi(spark, tmp_path / "rows", "COPY_ON_WRITE", False)
    table.write(some_rows(random, 40))
    source = HudiSource.open(spark, "db.rows", table.location)
    kept = Materialized(spark, tmp_path / "kept", {"db.rows": source}, EVERYTHING)
    for n in range(2):
        done = kept.refresh()
        facts = known_of(kept, done, source, (SOURCE, KEPT))
        for sql in QUERIES:
            answer = rewrite(sql, Session("spark", time_zone="UTC"), facts)
            assert answer.is_rewritten, answer.to_json()
            assert "rows_of_m" not in answer.sql
            assert result(spark, answer.sql) == result(spark, sql), answer.sql
        for sql in REFUSED:
            assert not rewrite(sql, Session("spark", time_zone="UTC"), facts).is_rewritten
        table.write(some_rows(random, 12))
        table.delete(random.sample(range(40), 6))
        behind = rewrite(QUERIES[0], Session("spark"), known_of(kept, done, source, (SOURCE, KEPT)))
        assert "was written to since it was computed" in behind.blocks[0].cubes[0].reason, n
