"""Measures what building each kind of file index takes, against one plain read of its columns.

The build is the product's own job, from planning to the published manifest. The plain read is
stock Spark's `sum(xxhash64(columns))` over the same table through the same Iceberg reader: every
value is read and touched once, nothing is kept and nothing goes to Python. Both in turn, in one
session, medians of three after a round of warming up, goal 2.5 times; beside it the processor
seconds of driver, JVM and Python, which say more on a machine with other work.
`python -m bench.index_build --help`; figures in bench/README.md.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.index_scan import lines
from bench.layout import DB, opened_lake
from bench.processor import processor_seconds
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.execution.jobs import optimize
from portal.connectors.lake_config import LakeConfig
from tests.support.scan_spark import job_for

NAME = "built"
GOAL = 2.5
ROUNDS = 3
KINDS = (
    "id:bloom",
    "ms:bloom",
    "ms:bloomrf",
    "ms:bitmap",
    "level:bitmap",
    "page:bitmap",
    "message:token_bloom",
    "message:ngram_bloom",
    "message:token_bitmap",
    "message:ngram_bitmap",
)
FIVE = ("id:bloom:12", "ms:bloomrf:16", "level:bitmap", "page:bitmap", "message:ngram_bloom")


def make(spark: SparkSession, n_files: int, n_rows: int) -> None:
    """Write the table: log lines in files of equal size."""
    columns = "id string, ms bigint, level string, page string, message string"
    spark.sql(
        f"CREATE TABLE lake.{DB}.{NAME} ({columns}) USING iceberg "
        "TBLPROPERTIES ('write.distribution-mode' = 'none', 'format-version' = '2')"
    )
    lines(spark, n_files, n_rows).writeTo(f"lake.{DB}.{NAME}").append()


def build(spark: SparkSession, config: LakeConfig, wanted: Sequence[str]) -> tuple[float, int]:
    """Build indexes of the whole table anew; gives the seconds, and the bytes of the indexes."""
    result = build_of(spark, config, wanted)
    if result["outcome"] != "DONE":
        sys.exit(f"{', '.join(wanted)}: not built: {result['outcome']} {result['reason']}")
    return result["seconds"], result["n_bytes"]


def build_of(spark: SparkSession, config: LakeConfig, wanted: Sequence[str]) -> dict[str, Any]:
    """Build indexes of the whole table anew by the product's job.

    Gives the job's result with its `seconds`, and `n_bytes` of the indexes.
    """
    table = open_table(spark, DB, NAME)
    shutil.rmtree(Path(table.location.removeprefix("file:")) / "_lakewarden", ignore_errors=True)
    task = {
        "task": 1,
        "db": DB,
        "table": NAME,
        "uuid": table.uuid,
        "kind": "INDEX",
        "partitions": None,
        "target_bytes": 1 << 29,
        "layout": "",
        "boundaries": None,
        "max_group_bytes": 1 << 36,
        "max_commits": 1,
        "min_files": 2,
        "index_columns": list(wanted),
    }
    job = job_for(spark, config, {"tasks": [task]}, now=datetime.now(UTC))
    started = time.monotonic()
    (result,) = optimize.run(spark, job)["results"]
    seconds = time.monotonic() - started
    n_bytes = sum(int(one.get("bytes_added", 0)) for one in result["commits"])
    return {**result, "seconds": seconds, "n_bytes": n_bytes}


def plain_read(spark: SparkSession, wanted: Sequence[str]) -> float:
    """Return the seconds in which Spark reads the columns of these indexes once."""
    columns = ", ".join(dict.fromkeys(one.partition(":")[0] for one in wanted))
    started = time.monotonic()
    spark.table(f"lake.{DB}.{NAME}").selectExpr(f"sum(xxhash64({columns}))").collect()
    return time.monotonic() - started


def measure(
    spark: SparkSession, config: LakeConfig, wanted: Sequence[str], *, rounds: int
) -> tuple[float, float]:
    """Build and read in turn; returns the medians, and prints them with every round."""
    builds, reads = [], []
    n_bytes = 0
    for at in range(rounds + 1):
        started = processor_seconds()
        seconds, n_bytes = build(spark, config, wanted)
        built = processor_seconds()
        read = plain_read(spark, wanted)
        if at:  # the first round warms up
            builds.append((seconds, built - started))
            reads.append((read, processor_seconds() - built))
    whole, plain = (statistics.median(one for one, _ in each) for each in (builds, reads))
    of_build, of_read = (statistics.median(one for _, one in each) for each in (builds, reads))
    name = wanted[0] if len(wanted) == 1 else f"{len(wanted)} at once"
    mark = "" if whole <= GOAL * plain else "   MISSED"
    print(
        f"{name:22} build {whole:6.2f} s  read {plain:6.2f} s  x{whole / plain:4.1f}   processor "
        f"{of_build:6.2f} / {of_read:5.2f} s  x{of_build / of_read:4.1f}  {n_bytes / 1e6:7.1f} MB  "
        f"{' '.join(f'{one:.2f}' for one, _ in builds)} / "
        f"{' '.join(f'{one:.2f}' for one, _ in reads)}{mark}",
        flush=True,
    )
    return whole, plain


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and return 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=60_000, help="of a file")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kind", action="append", help=f"of {', '.join(KINDS)}; all if left out")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    chosen = parser.parse_args(arguments)
    asked = [[one] for one in chosen.kind or KINDS] + ([] if chosen.kind else [list(FIVE)])
    with opened_lake(chosen.work) as (spark, config):
        make(spark, chosen.files, chosen.rows)
        print(f"written; load {os.getloadavg()[0]:.1f}", flush=True)
        found = [measure(spark, config, one, rounds=chosen.rounds) for one in asked]
        print(f"load at the end {os.getloadavg()[0]:.1f}", flush=True)
    return 1 if any(whole > GOAL * plain for whole, plain in found) else 0


if __name__ == "__main__":
    sys.exit(main())
