"""Measures what cubes save stock Spark on the Star Schema Benchmark, and what they cost besides.

The optimizer's own steps build the cubes, each with a star-tree. Each of the 13 queries runs
without cubes and with them in turn, at several coverages and after a compaction, after some rounds
that do not count; the rows must be equal. Processor seconds of the JVM stand beside those of the
clock: they are what another load changes least.
`python -m bench.cube --scale 1`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.cube_kept import CUBES, DB, FACT, KeptCube
from bench.cube_ssb import QUERIES, fill, query
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from stack.places import JARS, jars_of

FASTER, FEWER, SLOWER = 5.0, 10.0, 1.05
BUILD, MERGE = 1.5, 5.0
Figure = tuple[float, float, float, bool]
Figures = dict[str, Figure]
"""Seconds, processor seconds and bytes of a query, and whether a cube answered it, by its name."""


def opened(root: Path) -> SparkSession:
    """Return a session with a plain and an indexed catalog over one folder, else Spark's own."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    iceberg = [jar for jar in jars_of("spark") if jar.name.startswith("iceberg-spark-runtime")]
    jars = [*iceberg, JARS / "jvm" / "indexed-catalog.jar"]
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.extraClassPath", ":".join(map(str, jars)))
        .config("spark.sql.extensions", "lakewarden.cubes.CubeExtensions")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    classes = {
        "plain": "org.apache.iceberg.spark.SparkCatalog",
        "lake": "lakewarden.indexes.IndexedSparkCatalog",
    }
    for name, implementation in classes.items():
        spark.conf.set(f"spark.sql.catalog.{name}", implementation)
        spark.conf.set(f"spark.sql.catalog.{name}.type", "hadoop")
        spark.conf.set(f"spark.sql.catalog.{name}.warehouse", f"file:{root}")
        spark.conf.set(f"spark.sql.catalog.{name}.cache-enabled", "false")
    cached = "org.apache.iceberg.spark.SparkCachedTableCatalog"
    spark.conf.set("spark.sql.catalog.default_cache_iceberg", cached)
    return spark


def bytes_read(spark: SparkSession) -> float:
    """Return the bytes that this process has read from files so far, metadata too."""
    jvm: Any = spark._jvm
    found = jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics()
    return float(sum(one.getBytesRead() for one in found))


def processor_seconds(spark: SparkSession) -> float:
    """Return what Spark's JVM has used of processors so far."""
    jvm: Any = spark._jvm
    pid = jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asked(
    spark: SparkSession, name: str, rounds: int, answers: dict[str, Any]
) -> tuple[Figure, Figure]:
    """Run a query plainly and with cubes in turn; return the medians of each.

    In turn, so that what else the machine does in a minute touches both.
    """
    taken: dict[bool, list[Figure]] = {False: [], True: []}
    for _ in range(rounds):
        for on, runs in taken.items():
            switch(spark, on=on)
            before, cpu, started = bytes_read(spark), processor_seconds(spark), time.monotonic()
            frame = spark.sql(query(name, "lake"))
            rows = frame.collect()
            seconds = time.monotonic() - started
            busy, read = processor_seconds(spark) - cpu, bytes_read(spark) - before
            used = "[Cube " in frame._jdf.queryExecution().toString()
            if answers.setdefault(name, sorted(map(tuple, rows))) != sorted(map(tuple, rows)):
                raise SystemExit(f"query {name} gives other rows")
            runs.append((seconds, busy, read, used))
    plain, cubes = (
        (
            statistics.median(one[0] for one in runs),
            statistics.median(one[1] for one in runs),
            *runs[-1][2:],
        )
        for runs in taken.values()
    )
    return plain, cubes


def told(label: str, plain: Figures, cubes: Figures) -> bool:
    """Print one table; return whether its goals are met."""
    head = f"{'query':6} {'plain s':>8} {'cube s':>8} {'faster':>7} {'by cpu':>7}"
    print(f"\n{label}\n{head} {'fewer bytes':>12}")
    is_met = True
    for name, (seconds, busy, read, used) in cubes.items():
        faster, cpu = plain[name][0] / seconds, plain[name][1] / max(busy, 0.01)
        fewer = plain[name][2] / max(read, 1.0)
        said = f"{fewer:12.1f}" if used else f"{'not answered':>12}"
        figures = f"{plain[name][0]:8.2f} {seconds:8.2f} {faster:7.2f} {cpu:7.2f}"
        print(f"{name:6} {figures} {said}", flush=True)
        is_met &= (faster >= FASTER and fewer >= FEWER) if used else 1 / faster <= SLOWER
    return is_met


def kept(cubes: Iterable[KeptCube]) -> bool:
    """Print what keeping costs; return whether its goals are met."""
    is_met = True
    print(
        f"\n{'cube':9} {'GROUP BY s':>10} {'build s':>8} {'ratio':>6} {'again s':>8} {'merge s':>8}"
    )
    for one in cubes:
        took = one.seconds
        ratio, cheaper = took["build"] / took["group"], took["again"] / took["merge"]
        print(
            f"{one.name:9} {took['group']:10.2f} {took['build']:8.2f} {ratio:6.2f} "
            f"{took['again']:8.2f} {took['merge']:8.2f} {cheaper:6.1f}"
        )
        is_met &= ratio <= BUILD and cheaper >= MERGE
    return is_met


def main() -> int:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--files", type=int, default=14)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--warm", type=int, default=10, help="rounds before those that count")
    options.add_argument("--cubes", default=",".join(CUBES), help="names, separated by commas")
    options.add_argument("--covered", default="1,0.7,0.4", help="shares of files, by commas")
    options.add_argument("--queries", default=",".join(QUERIES), help="numbers, by commas")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="cube") as folder:
        return measured(Path(folder), given)


def measured(root: Path, given: argparse.Namespace) -> int:
    """Make the tables, ask everything, and print the figures; 1 where a goal is missed."""
    spark = opened(root)
    use_arrow(spark)
    started = time.monotonic()
    fill(spark, "plain", scale=given.scale, files=given.files)
    print(f"{given.files} files made in {time.monotonic() - started:.0f} s", flush=True)
    names, answers = given.queries.split(","), dict[str, Any]()
    switch(spark, on=False)
    cubes = [KeptCube(spark, name) for name in given.cubes.split(",")]
    for one in cubes:
        one.plain_group()  # warms
        one.plain_group()
        one.build()
        print(f"{one.name} built in {one.seconds['build']:.1f} s", flush=True)
    is_met = True
    for share in map(float, given.covered.split(",")):
        switch(spark, on=False)
        for one in cubes if share < 1 else ():
            one.keep_only(round(share * given.files))
        is_met &= compared(spark, f"{share:.0%} covered", names, given, answers)
    switch(spark, on=False)
    for one in cubes:
        one.build("rest")
    before = open_table(spark, DB, FACT).snapshot_id
    jvm: Any = spark._jvm
    table = open_table(spark, DB, FACT).java
    jvm.org.apache.iceberg.spark.actions.SparkActions.get().rewriteDataFiles(table).option(
        "rewrite-all", "true"
    ).execute()
    for one in cubes:
        one.merge(before)
    is_met &= compared(spark, "after a compaction", names, given, answers)
    switch(spark, on=False)
    for one in cubes:
        one.keep_only(0)
        one.build("again")
    is_met &= kept(cubes)
    sizes = [f"{one.name} {size(spark, one.table):,}" for one in cubes]
    print(f"bytes: table {size(spark, f'{DB}.{FACT}'):,}, cubes {', '.join(sizes)}")
    return 0 if is_met else 1


def switch(spark: SparkSession, *, on: bool) -> None:
    """Let queries be answered from cubes, or not."""
    spark.conf.set("spark.lakewarden.cubes.enabled", str(on).lower())


def compared(
    spark: SparkSession,
    label: str,
    names: Iterable[str],
    given: argparse.Namespace,
    answers: dict[str, Any],
) -> bool:
    """Ask every query plainly and with cubes, both in a warm JVM; return whether goals are met."""
    for name in names:
        asked(spark, name, given.warm, answers)
    found = {name: asked(spark, name, given.rounds, answers) for name in names}
    return told(
        label,
        {name: plain for name, (plain, _) in found.items()},
        {name: cubes for name, (_, cubes) in found.items()},
    )


def size(spark: SparkSession, table: str) -> int:
    """Return the bytes of a table's data files."""
    row = spark.sql(f"SELECT sum(file_size_in_bytes) AS n FROM plain.{table}.files").first()
    return int(row.n) if row else 0


if __name__ == "__main__":
    sys.exit(main())
