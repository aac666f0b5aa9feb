"""Measures what cubes save stock Spark on the Star Schema Benchmark, and what they cost besides.

Cubes are written by plain SQL, one unit a data file. Each of the 13 queries runs without cubes and
with them, at several coverages and after a compaction; the rows must be equal. Processor seconds of
the JVM stand beside those of the clock: they are what another load does not change.
`python -m bench.cube --scale 1`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.cube_ssb import QUERIES, fill, query
from stack.places import JARS, jars_of
from tests.support.cube_tables import Joined, SqlCube

FACT = "ssb.lineorder"
FASTER, FEWER, SLOWER = 5.0, 10.0, 1.05
_JOINS = {
    "d": Joined("d", "ssb.date", (("fact.lo_orderdate", "d_key"),)),
    "c": Joined("c", "ssb.customer", (("fact.lo_custkey", "c_key"),)),
    "s": Joined("s", "ssb.supplier", (("fact.lo_suppkey", "s_key"),)),
    "p": Joined("p", "ssb.part", (("fact.lo_partkey", "p_key"),)),
}
CUBES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "discount": (
        ("d",),
        (
            "d.d_year", "d.d_yearmonthnum", "d.d_weeknuminyear", "fact.lo_discount",
            "fact.lo_quantity",
        ),
        "fact.lo_extendedprice * fact.lo_discount",
    ),
    "brand": (
        ("d", "p", "s"),
        ("d.d_year", "p.p_brand1", "p.p_category", "s.s_region"),
        "fact.lo_revenue",
    ),
    "city": (
        ("d", "c", "s"),
        (
            "d.d_year", "c.c_city", "s.s_city", "c.c_nation", "s.s_nation", "c.c_region",
            "s.s_region",
        ),
        "fact.lo_revenue",
    ),
    "nation": (
        ("d", "c", "s"),
        ("d.d_year", "c.c_nation", "s.s_nation", "c.c_region", "s.s_region"),
        "fact.lo_revenue",
    ),
    "profit": (
        ("d", "c", "s", "p"),
        (
            "d.d_year", "c.c_nation", "s.s_nation", "p.p_category", "c.c_region", "s.s_region",
            "p.p_mfgr",
        ),
        "fact.lo_revenue - fact.lo_supplycost",
    ),
}  # fmt: skip
Figures = dict[str, tuple[float, float, float, bool]]


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
    return spark


def cube(spark: SparkSession, root: Path, name: str) -> SqlCube:
    """Return one of the cubes, defined and not built."""
    joins, dimensions, measure = CUBES[name]
    keys = [
        one
        for alias in joins
        for pair in _JOINS[alias].on
        for one in (pair[0], f"{alias}.{pair[1]}")
    ]
    used = {word for word in measure.split() if "." in word}
    made = SqlCube(
        spark, root, FACT, name,
        dimensions={one.split(".")[1]: one for one in dimensions},
        measures={"total": (measure, ["sum"])},
        joins=[_JOINS[alias] for alias in joins],
    )  # fmt: skip
    return made.define({*keys, *dimensions, *used})


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
    spark: SparkSession, names: Iterable[str], rounds: int, answers: dict[str, Any]
) -> Figures:
    """Run queries; return for each its median seconds, its bytes, and whether a cube answered."""
    found: Figures = {}
    for name in names:
        seconds, busy, read, used = [], [], 0.0, False
        for _ in range(rounds):
            before, cpu, started = bytes_read(spark), processor_seconds(spark), time.monotonic()
            frame = spark.sql(query(name, "lake"))
            rows = frame.collect()
            seconds.append(time.monotonic() - started)
            busy.append(processor_seconds(spark) - cpu)
            read = bytes_read(spark) - before
            used = "[Cube " in frame._jdf.queryExecution().toString()
            if answers.setdefault(name, sorted(map(tuple, rows))) != sorted(map(tuple, rows)):
                raise SystemExit(f"query {name} gives other rows")
        found[name] = (statistics.median(seconds), statistics.median(busy), read, used)
    return found


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


def main() -> int:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--files", type=int, default=14)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--root", type=Path, help="a folder to keep, with what was made before")
    options.add_argument("--cubes", default=",".join(CUBES), help="names, separated by commas")
    options.add_argument("--queries", default=",".join(QUERIES), help="numbers, by commas")
    given = options.parse_args()
    root = given.root or Path(tempfile.mkdtemp(prefix="cube"))
    spark = opened(root)
    if not (root / "ssb" / "lineorder").exists():
        started = time.monotonic()
        fill(spark, "plain", scale=given.scale, files=given.files)
        print(f"{given.files} files made in {time.monotonic() - started:.0f} s", flush=True)
    listed = spark.sql(f"SELECT file_path FROM plain.{FACT}.files ORDER BY file_path").collect()
    units = {i: [row.file_path] for i, row in enumerate(listed)}
    cubes = [cube(spark, root, name) for name in given.cubes.split(",")]
    names = given.queries.split(",")
    for one in cubes:
        started = time.monotonic()
        if not (root / one.table.replace(".", "/")).exists():
            one.build(units)
        print(f"{one.name} built in {time.monotonic() - started:.1f} s", flush=True)
    answers: dict[str, Any] = {}
    spark.conf.set("spark.lakewarden.cubes.enabled", "false")
    asked(spark, ["1.1"], 1, {})
    plain = asked(spark, names, given.rounds, answers)
    spark.conf.set("spark.lakewarden.cubes.enabled", "true")
    is_met = True
    for share in (1.0, 0.7, 0.4):
        for one in cubes:
            one.units = {i: units[i] for i in range(round(share * len(units)))}
            one.publish(exact=share == 1)
        found = asked(spark, names, given.rounds, answers)
        is_met &= told(f"{share:.0%} covered", plain, found)
    compacted(spark, cubes)
    is_met &= told("after a compaction", plain, asked(spark, names, given.rounds, answers))
    sizes = [f"{one.name} {size(spark, one.table):,}" for one in cubes]
    print(f"bytes: table {size(spark, FACT):,}, cubes {', '.join(sizes)}")
    return 0 if is_met else 1


def size(spark: SparkSession, table: str) -> int:
    """Return the bytes of a table's data files."""
    row = spark.sql(f"SELECT sum(file_size_in_bytes) AS n FROM plain.{table}.files").first()
    return int(row.n) if row else 0


def compacted(spark: SparkSession, cubes: Iterable[SqlCube]) -> None:
    """Rewrite all files into one group, and make one unit of all units: no data is read for it."""
    jvm: Any = spark._jvm
    actions = jvm.org.apache.iceberg.spark.actions.SparkActions
    cubes = list(cubes)
    actions.get().rewriteDataFiles(cubes[0].java(FACT)).option("rewrite-all", "true").execute()
    for one in cubes:
        spark.sql(f"UPDATE plain.{one.table} SET unit = 1000")
        one.units, one.coverage = {1000: list(one.files())}, {}
        one.publish()


if __name__ == "__main__":
    sys.exit(main())
