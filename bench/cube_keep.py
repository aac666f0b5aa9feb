"""Measures what it costs to keep cubes: a build against one GROUP BY, a merge against a rebuild.

A fact table of so many million rows in 20 files, four dimensions, with and without a star-tree.
`python -m bench.cube_keep --millions 2`; figures in bench/README.md. No metastore is needed: the
catalog is one of Hadoop's.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from optimizer.cubes.domain.definition import parse
from optimizer.cubes.domain.upkeep import View, mergeable
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.cubing.jobs.build import CubeBuild, batches, build_batch
from optimizer.iceberg.cubing.jobs.joined_tables import joined_now
from optimizer.iceberg.cubing.jobs.rewrites import replacements_since
from optimizer.iceberg.cubing.jobs.sources import find_sources
from optimizer.iceberg.cubing.jobs.store import CubeStore
from optimizer.iceberg.cubing.jobs.table_files import table_files
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from stack.places import jars_of

BUILD, MERGE = 1.5, 5.0
_KEYS = ("a", "b", "c", "d")
_GROUP = "SELECT a, b, c, d, count(*), sum(m), min(m), max(m) FROM lake.s.f GROUP BY a, b, c, d"


def opened(root: Path) -> SparkSession:
    """Return a session with Iceberg in a folder."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = [jar for jar in jars_of("spark") if jar.name.startswith("iceberg-spark-runtime")]
    builder: Any = SparkSession.builder
    settings = {
        "spark.driver.memory": "3g",
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(root),
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.default_cache_iceberg": (
            "org.apache.iceberg.spark.SparkCachedTableCatalog"
        ),
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    builder = builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark: SparkSession = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def definition(name: str, *, tree: bool) -> dict[str, Any]:
    """Return a cube of the table's four columns."""
    return {
        "name": name,
        "table": {"name": "s.f"},
        "dimensions": [{"name": key, "expression": f"fact.{key}", "type": "int"} for key in _KEYS],
        "measures": [
            {"name": "m", "expression": "fact.m", "type": "int", "functions": ["sum", "min", "max"]}
        ],
        "star_tree": {"max_leaf": 10} if tree else None,
    }


def begun(spark: SparkSession, name: str, *, tree: bool) -> CubeBuild:
    """Return a cube to build of the table as it is now."""
    table = open_table(spark, "s", "f")
    sources = find_sources(table, parse(definition(name, tree=tree)))
    store = CubeStore(table, sources.definition)
    store.prepare()
    live = [one.covered for one in table_files(table)]
    view = View(1, table.uuid, table.snapshot_id, live, joined_now(sources))
    return CubeBuild(sources, store, view)


def built(build: CubeBuild) -> None:
    """Build every file."""
    files = table_files(build.sources.fact)
    for batch in batches(files):
        build_batch([build], batch, [set(files)])


def seconds(act: Callable[[], object]) -> float:
    """Return how long it takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def main() -> int:
    """Print the figures; 1 where one is above its limit."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--millions", type=float, default=2)
    millions = arguments.parse_args().millions
    with tempfile.TemporaryDirectory() as folder:
        spark = opened(Path(folder))
        use_arrow(spark)
        spark.sql("CREATE TABLE lake.s.f (a INT, b INT, c INT, d INT, m INT) USING iceberg")
        spark.range(0, int(millions * 1e6), numPartitions=20).selectExpr(
            *(
                f"CAST(pmod(hash(id, {n}), {values}) AS INT) AS {key}"
                for n, (key, values) in enumerate(zip(_KEYS, (40, 25, 7, 5), strict=True))
            ),
            "CAST(pmod(hash(id), 1000) AS INT) AS m",
        ).writeTo("lake.s.f").append()
        plain = statistics.median(
            seconds(lambda: spark.sql(_GROUP).write.format("noop").mode("overwrite").save())
            for _ in range(3)
        )
        times = {}
        for tree in (False, True):
            runs = []
            for n in range(3):
                build = begun(spark, f"c{n}_{int(tree)}", tree=tree)
                runs.append(seconds(lambda build=build: built(build)))  # type: ignore[misc]  # bound at once
            times[tree] = statistics.median(runs)
        print(f"GROUP BY {plain / millions:.2f} s a million rows")
        for tree, took in times.items():
            said = "with a star-tree" if tree else "without"
            print(f"build {said}: {took / millions:.2f} s, x{took / plain:.2f} (goal {BUILD})")
        before = open_table(spark, "s", "f").snapshot_id
        spark.sql(
            "CALL lake.system.rewrite_data_files(table => 's.f', options => "
            "map('rewrite-all', 'true'))"
        )
        ratio = {}
        for tree in (False, True):
            rebuilt = begun(spark, f"r{int(tree)}", tree=tree)
            again = seconds(lambda rebuilt=rebuilt: built(rebuilt))  # type: ignore[misc]  # bound at once
            build = begun(spark, f"c0_{int(tree)}", tree=tree)
            coverage = build.store.read(build.store.open())
            if coverage is None:
                raise SystemExit("The cube has no coverage.")
            merges = mergeable(coverage, replacements_since(build.sources.fact, before))
            took = seconds(lambda: build.merge(coverage, merges))  # noqa: B023 - called at once
            ratio[tree] = again / took
            print(f"merge {took:.2f} s, rebuild {again:.2f} s: x{again / took:.1f} (goal {MERGE})")
        return int(times[True] / plain > BUILD or min(ratio.values()) < MERGE)


if __name__ == "__main__":
    sys.exit(main())
