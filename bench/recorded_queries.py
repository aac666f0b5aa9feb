"""Measures what recorded queries cost: to take one in, and to analyse a month of them.

    python -m bench.recorded_queries [--queries 10000000]

First events are folded and appended to segments as the portal does: texts of ordinary length that
all differ, the same ones again, one text again and again, and texts of 2 MB. Then that many queries
are written straight into the lake's table, in a process of its own, with shapes of which few are
frequent and most come once; and another process with two cores and a heap of 2 GiB analyses them.
What it finds is compared with a count of its own. Figures are in bench/README.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.pages import percentile
from bench.scan_memory import peak
from optimizer.queries.jobs.kept_table import kept_table, known_table
from optimizer.queries.jobs.top_shapes import DAYS as SHOWN_DAYS
from optimizer.queries.jobs.top_shapes import top_shapes
from stack.places import REPO, jars_of

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
NAME = "ops.queries"
SHAPES, DAYS = 2_000_000, 35
"""Shapes that queries are drawn from: the k-th comes about 1/k as often as the first."""
MOST = 200
STEPS = ("take", "fill", "analyse")


def opened(root: Path) -> SparkSession:
    """Return a session of two cores with a heap of 2 GiB and a catalog over a folder."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    jars = [jar for jar in jars_of("spark") if jar.name.startswith("iceberg-spark-runtime")]
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.local.dir", str(root))
        .config("spark.driver.extraClassPath", ":".join(map(str, jars)))
        .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lake.type", "hadoop")
        .config("spark.sql.catalog.lake.warehouse", f"file:{root}")
        .config("spark.sql.catalog.lake.cache-enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def made(spark: SparkSession, n: int) -> DataFrame:
    """Return queries in the columns of the table."""
    first = int((NOW - timedelta(days=DAYS)).timestamp())
    drawn = spark.range(n).selectExpr(
        "id",
        f"CAST(pow({SHAPES}, rand(1)) AS bigint) AS nth",
        f"timestamp_seconds({first} + CAST(rand(2) * {DAYS * 86_400 - 60} AS bigint)) AS at",
        "exp(1.5 * randn(3)) AS took",
    )
    scan = (
        "named_struct('db', concat('db', nth % 50), 'table', concat('t', nth % 5000), 'filters', "
        "array(named_struct('column', 'city', 'kind', '=')), 'n_bytes', CAST(took * 1e8 AS bigint),"
        " 'n_files', 100L, 'share', (nth % 10) / 10D)"
    )
    return drawn.selectExpr(
        "'trino' AS engine",
        "concat('q', id) AS query_id",
        "at AS ended_at",
        "at AS took_at",
        "concat('user', id % 300) AS user",
        "'bench' AS application",
        "took AS seconds",
        "CAST(took * 1e8 AS bigint) AS n_bytes",
        "id % 50 = 0 AS failed",
        "1L AS n_queries",
        "substr(sha2(CAST(nth AS string), 256), 1, 32) AS shape",
        "concat('SELECT day, sum(price), c', nth, ' FROM lake.db', nth % 50, '.t', nth % 5000, "
        "' WHERE city = ? AND day BETWEEN ? AND ? GROUP BY day') AS text",
        "true AS is_parsed",
        "array(substr(sha2(CAST(id AS string), 256), 1, 16)) AS hashes",
        "CAST(NULL AS array<string>) AS constants",
        "true AS names_all_tables",
        f"array({scan}) AS tables",
        "concat('s', id DIV 10000) AS segment",
    )


def fill(root: Path, n: int) -> None:
    """Write the queries into the table."""
    spark = opened(root)
    began = time.monotonic()
    table = kept_table(spark, NAME)
    made(spark, n).write.format("iceberg").mode("append").save(table.sql)
    size = table.again().totals()
    print(f"fill: {n:,} queries in {time.monotonic() - began:.0f} s, {size}", flush=True)
    spark.stop()


def analyse(root: Path, n: int) -> None:
    """Analyse the table, and compare what is found with plain SQL."""
    spark = opened(root)
    table = known_table(spark, NAME)
    spark.table(table.sql).limit(1).collect()  # its first plan compiles Spark's own code
    began = time.monotonic()
    found = top_shapes(table, now=NOW, most=MOST)
    took = time.monotonic() - began
    jvm: Any = spark._jvm
    pids = {"jvm": int(jvm.java.lang.ProcessHandle.current().pid()), "python": os.getpid()}
    peaks = {name: (peak(pid) or ("", 0))[1] // 1024 for name, pid in pids.items()}
    is_right = _is_counted(spark, table.sql, found)
    print(f"analyse: {n:,} queries in {took:.1f} s; peak MB {peaks}; heap 2048 MB", flush=True)
    spark.stop()
    if not is_right:
        raise SystemExit("the shapes differ from a count of its own")


def _is_counted(spark: SparkSession, table: str, found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether plain SQL finds the same shapes and sums, and the same 95th of a hundred."""
    since = (NOW.date() - timedelta(days=SHOWN_DAYS - 1)).isoformat()
    lately = f"FROM {table} WHERE ended_at >= TIMESTAMP '{since} 00:00:00'"
    summed = spark.sql(
        f"SELECT shape, sum(n_queries) n, sum(seconds) s, sum(n_bytes) b {lately} "
        f"GROUP BY shape ORDER BY s DESC LIMIT {MOST}"
    ).collect()
    shape = found[0]["shape"]
    (row,) = spark.sql(
        f"SELECT percentile(seconds, 0.95) p {lately} AND shape = '{shape}'"
    ).collect()
    return (
        len(found) == len(summed) == MOST
        and abs(found[0]["p95"] - row["p"]) < 0.015 * row["p"]
        and all(
            (said["shape"], said["n_queries"], said["n_bytes"])
            == (one["shape"], one["n"], one["b"])
            and abs(said["seconds"] - one["s"]) < 1e-6 * one["s"]
            for said, one in zip(found, summed, strict=True)
        )
    )


def take(root: Path) -> None:
    """Fold and append queries as a worker of the portal does."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings.test"
    import django

    django.setup()
    from optimizer.advice.domain.shapes import parted
    from optimizer.cubes.domain.readers import Engine
    from optimizer.queries.domain.kept_query import query_line, shape_line
    from optimizer.queries.domain.query_record import QueryRecord
    from optimizer.queries.services.keeping import _Remembered
    from optimizer.queries.services.spool import SegmentWriter

    remembered, key = _Remembered(), b"k" * 32
    writer = SegmentWriter(root / "segments", most_bytes=1 << 40)

    def keep(text: str, n: int) -> None:
        found = remembered.of(text, "trino", key)
        query = QueryRecord(Engine.TRINO, f"q{n}", is_failed=False, text=text)
        line = query_line(query, found, keeps_constants=False, now=NOW)
        if not writer.append(found.shape.digest, shape_line(found.shape), line, now=NOW):
            raise SystemExit("there is no room on the disk")

    ordinary = [_ordinary(n) for n in range(2_000)]
    _timed("texts that differ", ordinary, keep)
    _timed("the last 400 again", ordinary[-400:] * 50, keep)
    _timed("one text again and again", (ordinary[0] for _ in range(1_000_000)), keep)
    _timed("2 MB", [f"SELECT '{n}', " + "'x' || " * 300_000 + "'y'" for n in range(20)], keep)
    long = "SELECT a FROM t WHERE n IN (" + ", ".join(map(str, range(30_000))) + ")"
    _timed(
        "190 kB", [f"{long} AND b = {n}" for n in range(20)], lambda text, _: parted(text, "trino")
    )


def _ordinary(n: int) -> str:
    return (
        f"WITH recent AS (SELECT o.day, o.city, o.price * (1 - o.rebate) AS net, c.segment FROM "
        f"lake.sales.orders o JOIN lake.sales.customers c ON o.customer = c.id WHERE o.day BETWEEN "
        f"DATE '2026-11-01' AND DATE '2026-11-27' AND o.city IN ('Kiel', 'Bonn', 'c{n}')) SELECT "
        f"day, city, count(*), sum(net), max(CASE WHEN segment = 's{n}' THEN net ELSE 0 END) FROM "
        f"recent WHERE net > {n}.5 AND segment LIKE 'a%' GROUP BY day, city HAVING count(*) > {n} "
        f"ORDER BY 3 DESC LIMIT 100"
    )


def _timed(what: str, texts: Any, act: Callable[[str, int], object]) -> None:
    each: list[float] = []
    began = time.monotonic()
    for n, text in enumerate(texts):
        at = time.monotonic()
        act(text, n)
        each.append((time.monotonic() - at) * 1000)
    seconds = time.monotonic() - began
    p50, p95 = (percentile(each, share) for share in (0.5, 0.95))
    print(
        f"take, {what}: {len(each):,} in {seconds:.1f} s, {len(each) / seconds:,.0f} a second; "
        f"p50 {p50:.2f} p95 {p95:.2f} worst {max(each):.0f} ms",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    """Run all steps, each in a process of its own, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--root", type=Path)
    asked = parser.parse_args(arguments)
    if asked.step is not None:
        steps: dict[str, Callable[[], None]] = {
            "take": lambda: take(asked.root),
            "fill": lambda: fill(asked.root, asked.queries),
            "analyse": lambda: analyse(asked.root, asked.queries),
        }
        steps[asked.step]()
        return
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as root:
        for command in _commands(root, asked.queries):
            subprocess.run(command, cwd=REPO, check=True)
    print(f"load {os.getloadavg()[0]:.1f}")


def _commands(root: str, n: int) -> Iterator[list[str]]:
    for step in STEPS:
        yield [
            *(sys.executable, "-m", "bench.recorded_queries", "--step", step),
            *("--queries", str(n), "--root", root),
        ]


if __name__ == "__main__":
    main(sys.argv[1:])
