"""Measures how many files a query opens under each layout, and how long laying out takes.

The product's own job (`optimizer.iceberg.execution.jobs.optimize`, with a task as the portal
sends it) against Iceberg's rewrite_data_files, both on the same table in the same run, real files
and commits; files are counted by Iceberg's own planFiles. Bin-packing halves the files, every order
keeps their number. Every rewrite is checked: same rows by their number and the sum of their hashes.
Our Hilbert order is held against the goals of `layout_data` within 5 %, and against 1.3 times the
seconds of Iceberg's Z-order. `python -m bench.layout --table c1`; figures in bench/README.md.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.layout_data import CASES, Case, Question
from bench.processor import processor_seconds
from optimizer.iceberg.access.jobs.iceberg import open_table, use_iceberg
from optimizer.iceberg.execution.jobs import optimize
from portal.connectors.lake_config import LakeConfig
from stack.stack import Stack
from tests.support.scan_spark import job_for

EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
DB, NAME = "bench", "t"
TABLE = f"lake.{DB}.{NAME}"
# What the task asks: its kind, and the order of the rows.
OURS = {
    "our binpack": ("FULL", ""),
    "our sort": ("FULL", "sort"),
    "our zorder": ("FULL", "zorder"),
    "our hilbert": ("CLUSTER", "hilbert"),
}
THEIRS = {
    "iceberg binpack": "strategy => 'binpack'",
    "iceberg sort": "strategy => 'sort', sort_order => '{columns}'",
    "iceberg zorder": "strategy => 'sort', sort_order => 'zorder({columns})'",
}
METHODS = (
    "random",
    *("iceberg binpack", "our binpack", "iceberg sort", "our sort"),
    *("iceberg zorder", "our zorder", "our hilbert"),
)
TOLERANCE = 0.05
MOST_TIMES = 1.3
Row = dict[str, float]


@contextmanager
def opened_lake(
    work: Path, *, memory: str = "4g", extensions: Sequence[str] = (EXTENSION,)
) -> Iterator[tuple[SparkSession, LakeConfig]]:
    """Start a metastore, and two local cores of Spark with the lake's Iceberg catalog."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
    work.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="layout-", dir=work) as folder,
        Stack.embedded(Path(folder) / "stack") as stack,
    ):
        config = stack.config("main")
        settings = {
            **config.spark_conf,
            "spark.master": "local[2]",
            "spark.jars": ",".join(config.spark_jars),
            "spark.driver.memory": memory,
            # A long run, so the JVM may compile well.
            "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.extensions": ",".join(extensions),
            "spark.log.level": "ERROR",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.appName("bench-layout")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        try:
            use_iceberg(spark, config)
            spark.sql(f"CREATE NAMESPACE lake.{DB} LOCATION '{stack.lake_root}/bench'")
            yield spark, config
        finally:
            spark.stop()


def task_limits() -> dict[str, int]:
    """Return what the portal writes into every task, from the very place where it does."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.test")
    import django

    django.setup()
    from optimizer.iceberg.planner.services import maintainer

    return {
        "max_group_bytes": maintainer.MAX_GROUP_BYTES,
        "max_commits": maintainer.MAX_COMMITS,
        "min_files": maintainer.MIN_FILES,
    }


class Bench:
    """One table of one seed, laid out in one way after the other from the same random files."""

    def __init__(self, spark: SparkSession, config: LakeConfig, case: Case) -> None:
        self.spark, self.config, self.case = spark, config, case
        self.jvm: Any = spark.sparkContext._jvm
        self.limits = task_limits()

    def fill(self, seed: int, work: Path, *, n_rows: int, n_files: int) -> None:
        """Make the table again, its rows at random over its files."""
        self.spark.sql(f"DROP TABLE IF EXISTS {TABLE} PURGE")
        rows = self.case.make(self.spark, n_rows, seed, work)
        properties = {"format-version": "2", "write.distribution-mode": "none"}
        writer = rows.repartition(n_files).writeTo(TABLE).using("iceberg")
        for key, value in properties.items():
            writer = writer.tableProperty(key, value)
        writer.create()
        self.n_files = n_files
        self.n_bytes = sum(self.sizes())
        table = open_table(self.spark, DB, NAME)
        self.first, self.uuid = table.snapshot_id, table.uuid
        self.content = self.rows_hash()

    def back(self) -> None:
        """Go back to the random files."""
        at = f"table => '{DB}.{NAME}', snapshot_id => {self.first}"
        self.spark.sql(f"CALL lake.system.rollback_to_snapshot({at})")

    def sizes(self) -> list[int]:
        """Return the bytes of each file."""
        files = self.spark.table(f"{TABLE}.files").select("file_size_in_bytes")
        return [row[0] for row in files.collect()]

    def rows_hash(self) -> tuple[int, int]:
        """Return the number of rows and the sum of their hashes."""
        rows = self.spark.table(TABLE)
        names = ", ".join(f"`{name}`" for name in rows.columns)
        summed = f"sum(cast(xxhash64({names}) as decimal(38,0)))"
        found = rows.selectExpr("count(*)", summed).first()
        return (int(found[0]), int(found[1])) if found else (0, 0)

    def lay_out(self, method: str) -> None:
        """Rewrite all files by one method."""
        n_files = self.n_files // 2 if method.endswith("binpack") else self.n_files
        target = self.n_bytes // n_files
        columns = ",".join(self.case.columns)
        if method in OURS:
            kind, order = OURS[method]
            self.by_job(kind, f"{order}({columns})" if order else "", target_bytes=target)
        elif method in THEIRS:
            options = {
                "rewrite-all": "true",
                "min-input-files": "1",
                "target-file-size-bytes": str(target),
            }
            said = ", ".join(f"'{key}','{value}'" for key, value in options.items())
            how = THEIRS[method].format(columns=columns)
            call = f"table => '{DB}.{NAME}', {how}, options => map({said})"
            self.spark.sql(f"CALL lake.system.rewrite_data_files({call})").collect()

    def by_job(self, kind: str, layout: str, *, target_bytes: int) -> None:
        """Have the product's job do one task."""
        task: dict[str, Any] = {
            "task": 1,
            "db": DB,
            "table": NAME,
            "uuid": self.uuid,
            "kind": kind,
            "partitions": None,
            "target_bytes": target_bytes,
            "layout": layout,
            "boundaries": None,
            "write_ids": [],
            **self.limits,
        }
        job = job_for(self.spark, self.config, {"tasks": [task]}, now=datetime.now(UTC))
        with redirect_stdout(sys.stderr):
            (result,) = optimize.run(self.spark, job)["results"]
        if result["outcome"] != "DONE":
            raise SystemExit(f"{kind} {layout}: {result['outcome']} {result['reason']}")

    def opened(self, asked: Mapping[str, Sequence[Question]]) -> dict[str, float]:
        """Return the mean number of files that each kind of question opens."""
        table = open_table(self.spark, DB, NAME).java
        return {
            name: statistics.mean(self._planned(table, question) for question in questions)
            for name, questions in asked.items()
        }

    def _planned(self, table: Any, question: Question) -> int:
        expressions = self.jvm.org.apache.iceberg.expressions.Expressions
        scan = table.newScan().ignoreResiduals()
        for column, operation, value in question:
            scan = scan.filter(getattr(expressions, operation)(column, value))
        files = scan.planFiles()
        relocated = self.jvm.org.apache.iceberg.relocated.com.google.common.collect
        n_files = int(relocated.Iterables.size(files))
        files.close()
        return n_files


def one_method(bench: Bench, method: str, asked: Mapping[str, Sequence[Question]]) -> Row:
    """Lay out by one method, check the rows, and ask; the table is as before afterwards."""
    bench.back()
    started, spent = time.monotonic(), processor_seconds()
    bench.lay_out(method)
    seconds, spent = time.monotonic() - started, processor_seconds() - spent
    if bench.rows_hash() != bench.content:
        raise SystemExit(f"{method}: other rows came out than went in")
    sizes = bench.sizes()
    return {
        "seconds": round(seconds, 2),
        "processor": round(spent, 2),
        "files": len(sizes),
        "MB": round(sum(sizes) / 1e6, 1),
        **bench.opened(asked),
    }


def means(rows: Sequence[Row]) -> Row:
    """Return the mean of each figure over the seeds."""
    return {name: round(statistics.mean(row[name] for row in rows), 2) for name in rows[0]}


def print_table(found: Mapping[str, Row]) -> None:
    """Print the figures as a table of the README."""
    names = list(next(iter(found.values())))
    print("\n| layout | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for method, row in found.items():
        print(f"| {method} | " + " | ".join(f"{row[name]:g}" for name in names) + " |")


def missed(found: Mapping[str, Row], goals: Mapping[str, float]) -> bool:
    """Hold our Hilbert order against its goals, as far as it was measured, and print each."""
    ours, theirs = found.get("our hilbert"), found.get("iceberg zorder")
    if ours is None:
        return False
    held = [(name, ours[name], goal * (1 + TOLERANCE), f"{goal:g}") for name, goal in goals.items()]
    if theirs is not None:
        limit = MOST_TIMES * theirs["seconds"]
        held.append(("seconds", ours["seconds"], limit, f"{MOST_TIMES} x {theirs['seconds']:g}"))
    print()
    for name, value, limit, goal in held:
        print(f"{name}: {value:g}, goal {goal}: {'met' if value <= limit else 'missed'}")
    return any(value > limit for _, value, limit, _ in held)


def arguments() -> argparse.Namespace:
    """Read the command line; rows and files are those of the facts unless said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=list(CASES), required=True)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--work", type=Path, default=Path("var/bench/layout"))
    parser.add_argument("--smoke", action="store_true", help="60,000 rows, 12 files, one seed")
    args = parser.parse_args()
    if args.smoke:
        args.rows, args.files, args.seeds, args.questions = 60_000, 12, [1], 5
    return args


def main() -> int:
    """Measure one of the tables, method by method and seed by seed."""
    args = arguments()
    case, work = CASES[args.table], args.work.resolve()
    n_rows, n_files = args.rows or case.n_rows, args.files or case.n_files
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{args.table}: {n_rows:,} rows, {n_files} files, seeds {args.seeds}, load {load}")
    rows: dict[str, list[Row]] = {method: [] for method in args.methods}
    with opened_lake(work) as (spark, config):
        for seed in args.seeds:
            bench = Bench(spark, config, case)
            bench.fill(seed, work, n_rows=n_rows, n_files=n_files)
            asked = case.ask(random.Random(seed), args.questions)
            for method in args.methods:
                rows[method].append(one_method(bench, method, asked))
                print(json.dumps({"seed": seed, "method": method, **rows[method][-1]}), flush=True)
    found = {method: means(of_seeds) for method, of_seeds in rows.items()}
    print_table(found)
    return int(missed(found, case.goals.get(n_files, {})))


if __name__ == "__main__":
    sys.exit(main())
