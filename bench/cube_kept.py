"""Cubes of the Star Schema Benchmark as the optimizer keeps them, and what keeping them costs.

The steps of the task CUBE, called one by one so that each is timed and some files can be left out.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from optimizer.cubes.domain.definition import parse
from optimizer.cubes.domain.upkeep import View, composed, mergeable
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from optimizer.iceberg.cubing.jobs.build import CubeBuild, batches, build_batch
from optimizer.iceberg.cubing.jobs.joined_tables import check_keys, joined_now
from optimizer.iceberg.cubing.jobs.rewrites import replacements_since
from optimizer.iceberg.cubing.jobs.sources import find_sources
from optimizer.iceberg.cubing.jobs.store import CubeStore
from optimizer.iceberg.cubing.jobs.table_files import TableFile, table_files
from optimizer.iceberg.cubing.jobs.tidying import tidy

DB, FACT = "ssb", "lineorder"
_ON = {
    "d": ("date", "fact.lo_orderdate", "d_key"),
    "c": ("customer", "fact.lo_custkey", "c_key"),
    "s": ("supplier", "fact.lo_suppkey", "s_key"),
    "p": ("part", "fact.lo_partkey", "p_key"),
}
CUBES: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "discount": (
        "d",
        (
            "d.d_year", "d.d_yearmonthnum", "d.d_weeknuminyear", "fact.lo_discount",
            "fact.lo_quantity",
        ),
        "fact.lo_extendedprice * fact.lo_discount",
    ),
    "brand": (
        "dps",
        ("d.d_year", "p.p_brand1", "p.p_category", "s.s_region"),
        "fact.lo_revenue",
    ),
    "city": (
        "dcs",
        (
            "d.d_year", "c.c_city", "s.s_city", "c.c_nation", "s.s_nation", "c.c_region",
            "s.s_region",
        ),
        "fact.lo_revenue",
    ),
    "nation": (
        "dcs",
        ("d.d_year", "c.c_nation", "s.s_nation", "c.c_region", "s.s_region"),
        "fact.lo_revenue",
    ),
    "profit": (
        "dcsp",
        (
            "d.d_year", "c.c_nation", "s.s_nation", "p.p_category", "c.c_region", "s.s_region",
            "p.p_mfgr",
        ),
        "fact.lo_revenue - fact.lo_supplycost",
    ),
}  # fmt: skip


@dataclass
class KeptCube:
    """One cube of the line orders; `seconds` says what each step took."""

    spark: SparkSession
    name: str
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The cube's own table."""
        return f"{DB}.{FACT}__cube_{self.name}"

    def plain_group(self) -> None:
        """Run one GROUP BY of the cube's dimensions and measure, to nowhere."""
        joins, dimensions, measure = CUBES[self.name]
        tables = [f"lake.{DB}.{_ON[one][0]} {one} ON {_ON[one][1]} = {one}.{_ON[one][2]}"
                  for one in joins]  # fmt: skip
        joined = " JOIN ".join([f"lake.{DB}.{FACT} fact", *tables])
        keys = ", ".join(dimensions)
        text = f"SELECT {keys}, count(*), sum({measure}) FROM {joined} GROUP BY {keys}"
        self._timed(
            "group",
            lambda: self.spark.sql(text).write.format("noop").mode("overwrite").save(),
        )

    def build(self, step: str = "build") -> None:
        """Build every file that the cube lacks."""
        build, files = self._opened()
        self._timed(step, lambda: self._build(build, files))
        build.store.name_in_fact()

    def keep_only(self, n_files: int) -> None:
        """Forget all files but the first, and take the rows of the others away."""
        build, _ = self._opened()
        coverage = build.store.read(build.store.open())
        if coverage is None:
            raise SystemExit(f"The cube {self.name} has no coverage.")
        first = set(sorted(coverage.files, key=lambda one: one.location)[:n_files])
        gone = [
            unit.number
            for unit in coverage.units
            if not first.issuperset(coverage.files[n] for n in unit.files)
        ]
        tidy(build, build.store.publish(lambda now: composed(now, build.view, drop=gone)))

    def merge(self, before: int) -> None:
        """Take in the rewrites since a snapshot of the table, without reading its data."""
        build, _ = self._opened()
        coverage = build.store.read(build.store.open())
        if coverage is None:
            raise SystemExit(f"The cube {self.name} has no coverage.")
        merges = mergeable(coverage, replacements_since(build.sources.fact, before))
        self._timed("merge", lambda: build.merge(coverage, merges))
        tidy(build, coverage)

    def _build(self, build: CubeBuild, files: list[TableFile]) -> None:
        for batch in batches(files):
            build_batch([build], batch, [set(files)])

    def _opened(self) -> tuple[CubeBuild, list[TableFile]]:
        fact = open_table(self.spark, DB, FACT)
        sources = find_sources(fact, parse(self._definition(fact)))
        store = CubeStore(fact, sources.definition)
        store.prepare()
        check_keys(sources, {})
        files = table_files(fact)
        live = [one.covered for one in files]
        view = View(1, fact.uuid, fact.snapshot_id, live, joined_now(sources))
        coverage = store.read(store.open())
        covered = (
            {coverage.files[n] for unit in coverage.units for n in unit.files}
            if coverage
            else set()
        )
        return CubeBuild(sources, store, view), [one for one in files if one.covered not in covered]

    def _definition(self, fact: IcebergTable) -> dict[str, Any]:
        joins, dimensions, measure = CUBES[self.name]
        names = {"fact": FACT, **{alias: table for alias, (table, *_) in _ON.items()}}
        types = {
            f"{alias}.{one.name}": one.dataType.simpleString()
            for alias, table in names.items()
            for one in self.spark.table(f"lake.{DB}.{table}").schema
        }
        return {
            "name": self.name,
            "table": {"name": f"{DB}.{FACT}", "uuid": fact.uuid},
            "joins": [
                {"alias": one, "table": f"{DB}.{_ON[one][0]}", "on": [list(_ON[one][1:])]}
                for one in joins
            ],
            "dimensions": [
                {"name": one.split(".")[1], "expression": one, "type": types[one]}
                for one in dimensions
            ],
            "measures": [
                {"name": "total", "expression": measure, "type": "int", "functions": ["sum"]}
            ],
            "star_tree": {"max_leaf": 10},
        }

    def _timed(self, step: str, act: Callable[[], None]) -> None:
        started = time.monotonic()
        act()
        self.seconds[step] = time.monotonic() - started
