"""Measures what file indexes save stock Spark: seconds and data files of four kinds of query.

Four tables of the same log lines: plain, with Parquet's own Bloom filters, in Z-order, and plain
with file indexes that the product's own job builds. The last is read through the indexed catalog.
Answers must be equal. Planning is timed apart, by the rows that would be read and without the
aggregate: with one, Spark's adaptive execution reads the data before it has planned the rest.
`--look-up` makes the first two tables and an index of the id alone: larger files in less time.
`python -m bench.index_scan --help`; figures in bench/README.md.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.layout import DB, opened_lake
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.execution.jobs import optimize
from optimizer.pruning.jobs.prune import INDEXED, use_indexes
from portal.connectors.lake_config import LakeConfig
from tests.support.scan_spark import job_for

TABLES = ("plain", "parquet_bloom", "zorder", "indexed")
INDEXES = ("id:bloom:12", "ms:bloomrf:16", "level:bitmap", "page:bitmap", "message:ngram_bloom")
ROUNDS = 5
# Of these, the plain table must take ten times as long as the indexed one, and Parquet's three.
GOALS = {"plain": 10.0, "parquet_bloom": 3.0}
MOST_OVERHEAD = (1.05, 0.020)
Seconds = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Question:
    """One query by its condition; `is_helped` says whether an index can answer it."""

    name: str
    where: str
    is_helped: bool = True


def questions(n_rows: int) -> list[Question]:
    """Return what is asked, by values that are there."""
    some = f"substr(sha2('{n_rows // 3}', 256), 1, 24)"
    low = 1_000_003
    return [
        Question("one id", f"id = {some}"),
        Question("0.1 % range", f"ms BETWEEN {low} AND {low + 1_000}"),
        Question("two columns", "level = 'FATAL' AND page = 'p77'"),
        Question("a word", "message LIKE '%gateway timeout%'"),
        Question("no index helps", "length(message) > 10 AND level <> 'NONE'", is_helped=False),
    ]


def lines(spark: SparkSession, n_files: int, n_rows: int) -> DataFrame:
    """Return log lines in `n_files` parts; what is looked for stands in few of them."""
    total = n_files * n_rows
    return spark.range(0, total, 1, n_files).selectExpr(
        "substr(sha2(cast(id AS string), 256), 1, 24) id",
        # A file covers the whole domain but for gaps: least and greatest values do not help.
        f"cast(pmod(xxhash64(id div {n_rows}, id % 7), 1000) * 1000003 + id % 900 AS bigint) ms",
        f"CASE WHEN (id div {n_rows}) % 100 = 3 AND id % 97 = 0 THEN 'FATAL' "
        "WHEN id % 10 = 0 THEN 'WARN' ELSE 'INFO' END level",
        f"concat('p', pmod(xxhash64(id div {n_rows}, id % 13), 200)) page",
        f"CASE WHEN (id div {n_rows}) % 250 = 7 AND id % 1000 = 1 "
        "THEN concat('POST /pay failed: gateway timeout after ', id % 9000, ' ms') "
        "ELSE concat('GET /', sha2(cast(id AS string), 224), ' in ', id % 900, ' ms') END message",
    )


def make(spark: SparkSession, n_files: int, n_rows: int, tables: Sequence[str]) -> None:
    """Write the tables."""
    columns = "id string, ms bigint, level string, page string, message string"
    for name in tables:
        extra = {"write.distribution-mode": "none", "format-version": "2"}
        if name == "parquet_bloom":
            for column in ("id", "ms", "page", "level"):
                extra[f"write.parquet.bloom-filter-enabled.column.{column}"] = "true"
        said = ", ".join(f"'{key}' = '{value}'" for key, value in extra.items())
        spark.sql(f"CREATE TABLE lake.{DB}.{name} ({columns}) USING iceberg TBLPROPERTIES ({said})")
        lines(spark, n_files, n_rows).writeTo(f"lake.{DB}.{name}").append()
        print(f"{name} written", flush=True)
    if "zorder" in tables:
        _sort(spark, n_files)


def _sort(spark: SparkSession, n_files: int) -> None:
    size = spark.table(f"lake.{DB}.zorder.files").selectExpr("sum(file_size_in_bytes) s").first()
    target = max(int((size or [0])[0] // n_files), 1024)
    spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{DB}.zorder', strategy => 'sort', "
        "sort_order => 'zorder(id, ms)', options => map('rewrite-all', 'true', "
        f"'target-file-size-bytes', '{target}', 'min-input-files', '1'))"
    )


def build(spark: SparkSession, config: LakeConfig, table: str, indexes: Sequence[str]) -> float:
    """Let the product's job build the indexes; gives its seconds."""
    started = time.monotonic()
    task = {
        "task": 1,
        "db": DB,
        "table": table,
        "uuid": open_table(spark, DB, table).uuid,
        "kind": "INDEX",
        "partitions": None,
        "target_bytes": 1 << 29,
        "layout": "",
        "boundaries": None,
        "max_group_bytes": 1 << 36,
        "max_commits": 1,
        "min_files": 2,
        "index_columns": list(indexes),
    }
    now = datetime.now(UTC)
    (result,) = optimize.run(spark, job_for(spark, config, {"tasks": [task]}, now=now))["results"]
    if result["outcome"] != "DONE":
        sys.exit(f"the indexes were not built: {result['reason']}")
    return time.monotonic() - started


def plain_read(spark: SparkSession, table: str) -> float:
    """Return the seconds that reading the indexed columns once takes, through Arrow as a build."""
    started = time.monotonic()
    frame = spark.table(f"lake.{DB}.{table}")
    frame.mapInArrow(lambda batches: (one.slice(0, 0) for one in batches), frame.schema).count()
    return time.monotonic() - started


@dataclass(frozen=True)
class Lake:
    """The tables by what they are called in the figures, and as Spark names them."""

    spark: SparkSession
    names: Mapping[str, str]

    @classmethod
    def of(cls, spark: SparkSession, tables: Sequence[str], indexed: str) -> "Lake":
        """Name the tables; the indexed one goes through its own catalog."""
        names = {table: f"lake.{DB}.{table}" for table in tables}
        return cls(spark, {**names, "indexed": f"{INDEXED}.{DB}.{indexed}"})


def timed(spark: SparkSession, name: str, question: Question) -> tuple[float, float, Any]:
    """Return the seconds of planning, of planning and reading, and the answer."""
    text = " ".join(["SELECT count(*), sum(ms) FROM", name, "WHERE", question.where])
    started = time.perf_counter()
    frame = spark.sql(" ".join(["SELECT ms FROM", name, "WHERE", question.where]))
    frame._jdf.queryExecution().executedPlan().execute().getNumPartitions()
    planned = time.perf_counter() - started
    started = time.perf_counter()
    answer = spark.sql(text).collect()
    return planned, time.perf_counter() - started, [tuple(row) for row in answer]


def n_files(spark: SparkSession, name: str, question: Question) -> int:
    """Return how many data files the query opens."""
    through = name.replace("lake.", f"{INDEXED}.", 1)
    jvm: Any = spark.sparkContext._jvm
    query = spark.sql(" ".join(["SELECT * FROM", through, "WHERE", question.where]))
    scans = jvm.lakewarden.indexes.Planning.of(query._jdf)
    if not scans.size():
        return 0
    told = dict(scans.get(0))
    return int(told["kept"].size() if name == through else told["files"])


def measure(lake: Lake, asked: list[Question], *, rounds: int) -> Seconds:
    """Ask each table in turn, so that what else the machine does meets all of them alike."""
    found: Seconds = {}
    spark, names = lake.spark, lake.names
    for question in asked:
        answers: dict[str, Any] = {}
        times: dict[str, list[tuple[float, float]]] = {table: [] for table in names}
        for at in range(rounds + 1):
            for table, name in names.items():
                planned, whole, answer = timed(spark, name, question)
                expected = answers.setdefault(question.name, answer)
                if answer != expected:
                    sys.exit(f"{question.name}: {table} says {answer}, not {expected}")
                if at:  # the first round warms up
                    times[table].append((planned, whole))
        found[question.name] = {
            table: {
                "files": n_files(spark, name, question),
                "planning": statistics.median(one[0] for one in times[table]),
                "seconds": statistics.median(one[1] for one in times[table]),
            }
            for table, name in names.items()
        }
        _print(question, found[question.name])
    return found


def _print(question: Question, row: Mapping[str, Mapping[str, float]]) -> None:
    for table, one in row.items():
        times = one["seconds"] / row["indexed"]["seconds"]
        print(
            f"{question.name:16}{table:14} files {one['files']:5.0f}  planning "
            f"{one['planning'] * 1000:7.0f} ms whole {one['seconds'] * 1000:7.0f} ms  x{times:.1f}",
            flush=True,
        )


def missed(found: Seconds, asked: list[Question]) -> list[str]:
    """Say which goals were not met."""
    wrong = []
    for table, goal in GOALS.items():
        row = found["one id"]
        if (times := row[table]["seconds"] / row["indexed"]["seconds"]) < goal:
            wrong.append(f"one id: {table} takes {times:.1f} times as long, the goal is {goal}")
    for question in asked:
        if question.is_helped:
            continue
        row = found[question.name]
        plain, ours = row["plain"]["planning"], row["indexed"]["planning"]
        if ours > max(plain * MOST_OVERHEAD[0], plain + MOST_OVERHEAD[1]):
            wrong.append(f"{question.name}: planned in {ours:.3f} s, {plain:.3f} s plain")
    return wrong


def main() -> None:
    """Make the tables, ask, print, and fail where a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--look-up", action="store_true")
    parser.add_argument("--work", type=Path, default=Path("var/bench-index"))
    given = parser.parse_args()
    asked = questions(given.files * given.rows)
    tables: Sequence[str] = TABLES
    indexes: Sequence[str] = INDEXES
    indexed = "indexed"
    if given.look_up:
        asked, tables, indexed, indexes = asked[:1], TABLES[:2], "plain", INDEXES[:1]
    with opened_lake(given.work) as (spark, config):
        make(spark, given.files, given.rows, tables)
        built = build(spark, config, indexed, indexes)
        use_indexes(spark, config)
        read = plain_read(spark, indexed)
        print(f"built in {built:.1f} s, a plain read of all columns {read:.1f} s", flush=True)
        found = measure(Lake.of(spark, tables, indexed), asked, rounds=given.rounds)
        wrong = missed(found, asked)
        print(json.dumps({"load": os.getloadavg()[0], "built": built, "read": read, **found}))
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
