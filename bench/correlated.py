"""Measures what an order by a column of a joined table saves a star query in stock Spark.

Three tables of the same line orders of the Star Schema Benchmark, each with an index of the foreign
key: as they were written, sorted by the foreign key itself, and sorted by `part.p_brand1`, by the
product's own jobs. The queries of the second flight filter `part` and `supplier` alone; the rows
must be equal. Files are those that the join's keys leave, in Spark and by *Narrow a query*.
`python -m bench.correlated --scale 0.2`; figures in bench/README.md.
"""

import argparse
import os
import re
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.cube_ssb import QUERIES, fill
from bench.layout import opened_lake
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.execution.jobs import optimize
from optimizer.pruning.domain.queries import Query
from optimizer.pruning.jobs.join_keys import MOST_KEYS
from optimizer.pruning.jobs.prune import INDEXED, narrow, use_indexes
from portal.connectors.lake_config import LakeConfig
from tests.support.scan_spark import job_for

DB, PLAIN = "ssb", "lineorder"
SORTED = {"by_key": "sort(lo_partkey)", "by_brand": "sort(part.p_brand1)"}
PART = {"alias": "part", "table": f"{DB}.part", "on": [["fact.lo_partkey", "p_key"]]}
FLIGHT = ("2.1", "2.2", "2.3")
_DROPPED = re.compile(r"join filters: (\d+) of (\d+) files dropped")


def work(spark: SparkSession, config: LakeConfig, table: str, **asked: Any) -> float:
    """Let the product's job do one task; return its seconds."""
    task = {
        "task": 1,
        "db": DB,
        "table": table,
        "uuid": open_table(spark, DB, table).uuid,
        "partitions": None,
        "target_bytes": 1 << 29,
        "max_group_bytes": 1 << 36,
        "max_commits": 1,
        **asked,
    }
    started = time.monotonic()
    job = job_for(spark, config, {"tasks": [task]}, now=datetime.now(UTC))
    (result,) = optimize.run(spark, job)["results"]
    if result["outcome"] != "DONE":
        sys.exit(f"{table}: {result['reason']}")
    return time.monotonic() - started


def make(spark: SparkSession, config: LakeConfig, *, scale: float, files: int) -> None:
    """Write the tables, put two of them in order, and index the foreign key of all."""
    fill(spark, "lake", scale=scale, files=files)
    size = open_table(spark, DB, PLAIN).totals()["n_bytes"]
    for table, layout in SORTED.items():
        spark.table(f"lake.{DB}.{PLAIN}").writeTo(f"lake.{DB}.{table}").using("iceberg").create()
        target = max(size // files, 1 << 10)
        took = work(
            spark, config, table, kind="CLUSTER", layout=layout, joins=[PART], target_bytes=target
        )
        print(f"{layout}: {took:.1f} s", flush=True)
    for table in (PLAIN, *SORTED):
        work(spark, config, table, kind="INDEX", index_columns=["lo_partkey:bitmap"])


def text_of(name: str, catalog: str, table: str) -> str:
    """Return a query over one of the three tables."""
    others = ("date", "customer", "supplier", "part")
    tables = {one: f"{catalog}.{DB}.{one}" for one in others}
    return QUERIES[name].format(lineorder=f"{catalog}.{DB}.{table}", **tables)


def opened_files(spark: SparkSession, sql: str) -> tuple[int, int]:
    """Return how many of how many files a query opened once the join's keys were known."""
    frame = spark.sql(sql)
    frame.collect()
    found = _DROPPED.search(frame._jdf.queryExecution().executedPlan().toString())
    if found is None:
        sys.exit("the join asked no index")
    return int(found[2]) - int(found[1]), int(found[2])


def narrowed(spark: SparkSession, name: str, table: str) -> int:
    """Return how many files of the fact are left by *Narrow a query*."""
    query = Query(text_of(name, "lake", table), "spark")
    known = [use.name for use in query.uses]
    found = narrow(spark, query, known, most=100_000, on_use=lambda _: None, most_keys=MOST_KEYS)
    fact = next(one for one in found.tables if one.table == f"{DB}.{table}")
    return fact.n_kept


def main() -> None:
    """Make the tables, ask them in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, default=Path("var/bench-correlated"))
    given = parser.parse_args()
    with opened_lake(given.work) as (spark, config):
        location = spark.sql("DESCRIBE NAMESPACE lake.bench").where("info_name = 'Location'")
        spark.sql(f"CREATE NAMESPACE lake.{DB} LOCATION '{location.collect()[0][1]}_ssb'")
        make(spark, config, scale=given.scale, files=given.files)
        use_indexes(spark, config)
        for name in FLIGHT:
            answers: list[Any] = []
            seconds: dict[str, list[float]] = {table: [] for table in (PLAIN, *SORTED)}
            for _ in range(given.rounds + 1):
                for table, times in seconds.items():
                    started = time.monotonic()
                    rows = spark.sql(text_of(name, INDEXED, table)).collect()
                    times.append(time.monotonic() - started)
                    answers.append(rows)
            if any(one != answers[0] for one in answers):
                sys.exit(f"{name}: the tables give different rows")
            for table, times in seconds.items():
                n, of = opened_files(spark, text_of(name, INDEXED, table))
                took = statistics.median(times[1:])  # the first round warms up
                left = narrowed(spark, name, table)
                print(f"{name} {table:10} {n} of {of} files, {left} narrowed, {took:.2f} s")
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
