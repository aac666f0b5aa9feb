"""Builds units of cubes from data files, and merges units after rewrites; publishes each batch."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.coverage import Bound, Coverage
from optimizer.cubes.domain.definition import FACT, Definition
from optimizer.cubes.domain.types import MAX_DISTINCT
from optimizer.cubes.domain.upkeep import Merge, NewUnit, View, composed
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.cubing.jobs.grouping import (
    MISSING,
    ROWS,
    UNIT,
    bound,
    bounds_of,
    cube_columns,
    grouped,
    joined,
    merged,
)
from optimizer.iceberg.cubing.jobs.sources import Sources, check_types
from optimizer.iceberg.cubing.jobs.star_rows import with_star_rows
from optimizer.iceberg.cubing.jobs.store import CubeStore
from optimizer.iceberg.cubing.jobs.table_files import FILE_HASH, TableFile, live_rows
from optimizer.iceberg.indexing.jobs.reading import signed
from optimizer.indexes.domain.hashing import hash_bytes
from portal.lake.errors import RuleViolation

MOST_FILES, MOST_ROWS = 500, 20_000_000
"""Published after so many data files or rows at the latest; one large file may be more."""
_ROWS_A_FILE = 2_000_000
_TIME_ZONE = "spark.sql.session.timeZone"
_UNIT_BITS = 52


@dataclass
class CubeProgress:
    """What was done at one cube so far."""

    n_files_read: int = 0
    n_rows_read: int = 0
    n_units_built: int = 0
    n_units_merged: int = 0
    n_units_gone: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """By location: why a data file is in no unit."""


@dataclass
class CubeBuild:
    """One cube in a run."""

    sources: Sources
    store: CubeStore
    view: View
    progress: CubeProgress = field(default_factory=CubeProgress)

    @property
    def definition(self) -> Definition:
        """The cube's definition with every field id."""
        return self.sources.definition

    def build(self, rows: DataFrame, files: Sequence[TableFile]) -> None:
        """Write the units of some files from their rows (`f<field id>` columns), and publish.

        Raises:
            RuleViolation: `cube.column_type`, `cube.distinct`.
        """
        definition = self.definition
        units = {_hash_of(one): (secrets.randbits(_UNIT_BITS), one) for one in files}
        spark = self.sources.fact.spark
        zone = spark.conf.get(_TIME_ZONE)
        spark.conf.set(_TIME_ZONE, definition.time_zone)
        try:
            numbers = [(key, number) for key, (number, _) in units.items()]
            of_file = spark.createDataFrame(numbers, f"{FILE_HASH} long, {UNIT} long")
            mine = rows.select(FILE_HASH, *_named(self.sources))
            mine = mine.join(F.broadcast(of_file), FILE_HASH)
            others = {one.alias: self.sources.joined_rows(one) for one in definition.joins}
            whole = joined(definition, mine, others)
            check_types(definition, whole)
            base = grouped(definition, whole).persist(StorageLevel.MEMORY_AND_DISK)
            try:
                with clear_errors(self.sources.fact.name):
                    self._write(base, units)
            finally:
                base.unpersist()
        finally:
            spark.conf.set(_TIME_ZONE, str(zone))

    def _write(self, base: DataFrame, units: Mapping[int, tuple[int, TableFile]]) -> None:
        definition = self.definition
        distinct = [one.name for one in definition.states() if one.function == "distinct"]
        told = {
            row[UNIT]: row.asDict()
            for row in base.groupBy(UNIT)
            .agg(
                F.sum(ROWS).alias(ROWS),
                F.sum(MISSING).alias(MISSING),
                F.count(F.lit(1)).alias("_groups"),
                *bounds_of(definition),
                *(F.max(F.size(name)).alias(f"_size_{name}") for name in distinct),
            )
            .collect()
        }
        for name in distinct:
            most = max((row[f"_size_{name}"] or 0 for row in told.values()), default=0)
            if most > MAX_DISTINCT:
                raise RuleViolation(
                    "cube.distinct",
                    f"{name} of the cube {definition.name} has {most:,} values in one group; at "
                    f"most {MAX_DISTINCT:,} are kept. Take sketch in its place.",
                )
        new: list[NewUnit] = []
        bounds: dict[str, Bound] = {}
        n_groups = 0
        for number, file in units.values():
            row = told.get(number, {})
            n_rows = int(row.get(ROWS) or 0)
            reason = _refusal(file, n_rows, int(row.get(MISSING) or 0))
            if reason:
                self.progress.refused[file.covered.location] = reason
                continue
            new.append(NewUnit(number, (file.covered,), n_rows))
            n_groups += int(row.get("_groups") or 0)
            for one in definition.measures:
                if row:
                    bounds[one.name] = _joined_bounds(
                        bounds.get(one.name), Bound(*bound(row, one.name))
                    )
        if len(new) < len(units):
            base = base.where(F.col(UNIT).isin([one.number for one in new]))
        if new:
            self._append(base, new, n_groups, bounds)
        self.progress.n_files_read += len(units)
        self.progress.n_rows_read += sum(one.rows for one in new)
        self.progress.n_units_built += len(new)

    def merge(self, coverage: Coverage, merges: Sequence[Merge]) -> None:
        """Write the units that rewrites allow from the rows of those that they stand for."""
        made = [(secrets.randbits(_UNIT_BITS), one) for one in merges]
        spark = self.sources.fact.spark
        pairs = [(source, number) for number, one in made for source in one.sources]
        to = spark.createDataFrame(pairs, "source long, target long")
        rows = (
            spark.read.format("iceberg")
            .option("snapshot-id", str(coverage.cube_snapshot_id))
            .load(self.store.sql)
            .where("star = 0")
            .join(F.broadcast(to), F.col(UNIT) == F.col("source"))
            .withColumn(UNIT, F.col("target"))
            .drop("source", "target")
        )
        new = [NewUnit(number, one.files, one.rows) for number, one in made]
        with clear_errors(self.definition.cube_table):
            self._append(merged(self.definition, rows), new, sum(one.rows for one in new), {})
        self.progress.n_units_merged += len(new)

    def _append(
        self, base: DataFrame, new: Sequence[NewUnit], n_groups: int, bounds: Mapping[str, Bound]
    ) -> None:
        keys = ["star", "has", *(one.name for one in self.definition.dimensions)]
        rows = with_star_rows(self.definition, base.select(*_base_columns(self.definition)))
        n_files = max(1, n_groups // _ROWS_A_FILE)
        spread = rows.coalesce(1) if n_files == 1 else rows.repartitionByRange(n_files, *keys)
        batch = self.store.append(spread.sortWithinPartitions(*keys))
        self.store.publish(
            lambda before: composed(before, self.view, add=new, bounds=bounds), batch=batch
        )


def batches(files: Sequence[TableFile]) -> Iterator[list[TableFile]]:
    """Yield the files some at a time, in their order."""
    held: list[TableFile] = []
    n_rows = 0
    for one in files:
        if held and (len(held) >= MOST_FILES or n_rows + one.covered.records > MOST_ROWS):
            yield held
            held, n_rows = [], 0
        held.append(one)
        n_rows += one.covered.records
    if held:
        yield held


def build_batch(
    builds: Sequence[CubeBuild], files: Sequence[TableFile], lacks: Sequence[set[TableFile]]
) -> None:
    """Read some files once for all cubes that lack them."""
    fact = builds[0].sources.fact
    columns = {
        f"f{build.definition.columns[f'{FACT}.{name}']}": sql
        for build in builds
        for name, sql in build.sources.columns_of(FACT).items()
    }
    with ExitStack() as stack:
        rows = stack.enter_context(live_rows(fact, files, columns))
        if len(builds) > 1:
            rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
            stack.callback(rows.unpersist)
        for build, lack in zip(builds, lacks, strict=True):
            mine = [one for one in files if one in lack]
            if mine:
                build.build(rows, mine)


def _named(sources: Sources) -> list[Column]:
    ids = sources.definition.columns
    return [F.col(f"f{ids[f'{FACT}.{name}']}").alias(name) for name in sources.columns_of(FACT)]


def _base_columns(definition: Definition) -> list[str]:
    return [name for name in cube_columns(definition) if name not in ("star", "has")]


def _refusal(file: TableFile, n_rows: int, missing: int) -> str:
    if missing:
        return f"{missing:,} of its rows have no partner in a joined table"
    if not file.covered.deletes and n_rows != file.covered.records:
        return f"{n_rows:,} rows were read and the table says {file.covered.records:,}"
    return ""


def _joined_bounds(one: Bound | None, other: Bound) -> Bound:
    if one is None:
        return other
    known = [n for n in (one.max_abs, other.max_abs) if n is not None]
    return replace(
        one,
        max_abs=max(known) if known else None,
        negative_zero=one.negative_zero or other.negative_zero,
    )


def _hash_of(file: TableFile) -> int:
    return signed(hash_bytes(file.covered.location.encode()))
