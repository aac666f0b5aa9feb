"""Compares a table's data files with its newest index manifest: what is there, what lacks.

Files of main and of every other branch are indexed; what older snapshots alone still name keeps
the indexes that it has, until it has left them all. Newest partitions come first.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.domain.wanted import COST
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns
from optimizer.iceberg.tables.domain.branches import is_trial
from optimizer.indexes.domain.manifest import (
    BlobKey,
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
)

_ICEBERG = "org.apache.iceberg."


@dataclass(frozen=True)
class LiveFile:
    """One data file of a branch; its scan task is the `n`th of Java's list."""

    data_file: DataFile
    partition: str
    format: str
    newest: int
    tasks: Any = field(repr=False, compare=False)
    n: int = 0


def live_files(table: IcebergTable) -> list[LiveFile]:
    """Return the data files of all branches, those of the newest partitions first."""
    found: dict[str, LiveFile] = {}
    with clear_errors(table.name):
        for snapshot_id in _heads(table):
            for one in _planned(table, snapshot_id):
                found.setdefault(one.data_file.location, one)
    newest: dict[str, int] = {}
    for one in found.values():
        newest[one.partition] = max(one.newest, newest.get(one.partition, 0))
    return sorted(
        found.values(),
        key=lambda one: (newest[one.partition], one.partition, one.newest, one.data_file.location),
        reverse=True,
    )


def dead_locations(
    table: IcebergTable, manifest: Manifest, files: Iterable[LiveFile]
) -> Collection[str]:
    """Return the data files of a manifest that no snapshot names any more."""
    live = {one.data_file.location for one in files}
    others = [location for location in manifest.covered if location not in live]
    if not others:
        return ()
    with clear_errors(table.name):
        asked = table.spark.createDataFrame([(one,) for one in others], "file_path string")
        named = table.spark.table(f"{table.sql}.all_data_files").select("file_path").distinct()
        return {str(row[0]) for row in asked.join(named, "file_path", "left_anti").collect()}


def lacking(
    files: Iterable[LiveFile],
    columns: Sequence[IndexedColumn],
    manifest: Manifest,
    *,
    again: Collection[int] = (),
) -> list[tuple[LiveFile, list[IndexedColumn]]]:
    """Return each file that lacks a wanted index, with those that it lacks, in the same order.

    Of the columns `again`, by field id, a refusal by cost does not count any more.
    """
    found = []
    for one in files:
        covered = covered_by(one.data_file, manifest)
        missing = [
            column
            for column in columns
            if not is_answered(column, covered)
            or (column.field_id in again and is_refused_by_cost(column, covered))
        ]
        if missing and one.data_file.records:
            found.append((one, missing))
    return found


def covered_by(file: DataFile, manifest: Manifest) -> Covered | None:
    """Return what a manifest has of just this data file."""
    covered = manifest.covered.get(file.location)
    if covered is None or not covered.data_file.is_the_same_as(
        file.size, file.records, file.sequence
    ):
        return None
    return covered


def is_answered(column: IndexedColumn, covered: Covered | None) -> bool:
    """Whether a wanted index is there, or known not to be worth it; `auto` takes any kind."""
    if covered is None:
        return False
    if (column.field_id, column.kind) in covered.refused:
        return True
    return place_of(column, covered) is not None


def is_refused_by_cost(column: IndexedColumn, covered: Covered | None) -> bool:
    """Whether the figures of the whole table, not this file's values, spoke against an index."""
    if covered is None or place_of(column, covered) is not None:
        return False
    return covered.refused.get((column.field_id, column.kind), "").startswith(COST)


def place_of(column: IndexedColumn, covered: Covered) -> tuple[BlobKey, BlobPlace] | None:
    """Return the index that answers for a wanted one, with its place."""
    for key, place in sorted(covered.blobs.items()):
        if key[0] == column.field_id and column.kind in ("auto", key[1]):
            return key, place
    return None


def _heads(table: IcebergTable) -> list[int]:
    """Return the snapshots at which branches stand, main's first."""
    refs = dict(table.java.refs())
    others = [
        int(ref.snapshotId())
        for name, ref in sorted(refs.items())
        # A trial's files are gone within the hour: no index of them would ever be read.
        if name != "main" and ref.isBranch() and not is_trial(name)
    ]
    mine = [table.snapshot_id] if table.snapshot is not None else []
    return list(dict.fromkeys([*mine, *others]))


def _planned(table: IcebergTable, snapshot_id: int) -> Iterable[LiveFile]:
    planned = table.java.newScan().useSnapshot(snapshot_id).ignoreResiduals().planFiles()
    try:
        tasks = table.listed(planned)
    finally:
        planned.close()
    if tasks.isEmpty():
        return
    columns, steps = table.columns, TaskColumns(table.columns)
    file_sequence = columns.step(_ICEBERG + "ContentFile", "fileSequenceNumber")
    specs = table.java.specs()
    for spec_id, of_spec in columns.grouped(tasks, steps.file.andThen(steps.spec)).items():
        to_path = columns.step(
            _ICEBERG + "PartitionSpec",
            "partitionToPath",
            _ICEBERG + "StructLike",
            of=specs.get(spec_id),
        )
        rows = zip(
            columns.read(of_spec, steps.file, steps.location),
            columns.numbers(of_spec, steps.file, steps.length),
            columns.numbers(of_spec, steps.file, steps.rows),
            columns.read(of_spec, steps.file, file_sequence),
            columns.numbers(of_spec, steps.file, steps.sequence),
            columns.read(of_spec, steps.file, steps.partition, to_path),
            columns.read(of_spec, steps.file, steps.format),
            strict=True,
        )
        for n, (location, size, records, of_file, newest, partition, form) in enumerate(rows):
            sequence = None if of_file == "null" else int(of_file)
            file = DataFile(location, size, records, sequence)
            yield LiveFile(file, partition, form.upper(), newest, of_spec, n)
