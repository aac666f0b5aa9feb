"""Plans a table's data files by partition, with the deletes that apply to each.

Iceberg plans the scan (metadata only); Python gets columns of numbers, Java keeps the scan tasks.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from optimizer.core.jobs.java_columns import JavaColumns
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.write_ids import write_ids_of
from optimizer.iceberg.rewrite.jobs.bin_packing import PlannedFile

_ICEBERG = "org.apache.iceberg."


@dataclass(frozen=True)
class PlannedPartition:
    """The files of one partition under one spec; `tasks` is Java's list that `n` counts in."""

    partition: str
    spec_id: int
    tasks: Any = field(repr=False)
    files: list[PlannedFile]


@dataclass(frozen=True)
class Plan:
    """The files of main as they were at one snapshot."""

    table: IcebergTable
    snapshot_id: int
    sequence: int
    partitions: list[PlannedPartition]


class TaskColumns:
    """The steps from a scan task to what is asked of it."""

    def __init__(self, columns: JavaColumns) -> None:
        content = _ICEBERG + "ContentFile"
        self.file = columns.step(_ICEBERG + "ContentScanTask", "file")
        self.deletes = columns.step(_ICEBERG + "FileScanTask", "deletes")
        self.spec = columns.step(content, "specId")
        self.partition = columns.step(content, "partition")
        self.location = columns.step(content, "location")
        self.length = columns.step(content, "fileSizeInBytes")
        self.rows = columns.step(content, "recordCount")
        self.sequence = columns.step(content, "dataSequenceNumber")
        self.content = columns.step(content, "content")
        self.format = columns.step(content, "format")
        self.size = columns.step("java.util.List", "size")


def plan_files(
    table: IcebergTable,
    *,
    partitions: Collection[str] | None = None,
    laid_out_by: Collection[str] = (),
) -> Plan:
    """Plan main's files of the named partitions (None: of all), by partition path.

    A file whose name holds one of the write ids in `laid_out_by` counts as laid out.
    """
    if table.snapshot is None:
        return Plan(table, 0, 0, [])
    with clear_errors(table.name):
        found = [
            partition
            for partition in _partitions(table, all_tasks(table), frozenset(laid_out_by))
            if partitions is None or partition.partition in partitions
        ]
        sequence = int(table.snapshot.sequenceNumber())
    return Plan(table, table.snapshot_id, sequence, sorted(found, key=lambda one: one.partition))


def all_tasks(table: IcebergTable) -> Any:
    """Return Java's list of the scan tasks of all of main's files, with their deletes."""
    planned = table.java.newScan().useSnapshot(table.snapshot_id).ignoreResiduals().planFiles()
    try:
        return table.listed(planned)
    finally:
        planned.close()


def _partitions(
    table: IcebergTable, tasks: Any, laid_out_by: frozenset[str]
) -> Iterator[PlannedPartition]:
    if tasks.isEmpty():
        return
    columns = table.columns
    steps = TaskColumns(columns)
    specs = table.java.specs()
    by_spec = columns.grouped(tasks, steps.file.andThen(steps.spec))
    for spec_id, of_spec in by_spec.items():
        to_path = columns.step(
            _ICEBERG + "PartitionSpec",
            "partitionToPath",
            _ICEBERG + "StructLike",
            of=specs.get(spec_id),
        )
        by_path: dict[str, list[PlannedFile]] = {}
        paths = columns.read(of_spec, steps.file, steps.partition, to_path)
        for path, file in zip(paths, _files(columns, of_spec, steps, laid_out_by), strict=True):
            by_path.setdefault(path, []).append(file)
        for path, files in by_path.items():
            yield PlannedPartition(path, int(spec_id), of_spec, files)


def _files(
    columns: JavaColumns, tasks: Any, steps: TaskColumns, laid_out_by: frozenset[str]
) -> Iterator[PlannedFile]:
    n_deletes = columns.numbers(tasks, steps.deletes, steps.size)
    deletes = columns.flat(tasks, steps.deletes)
    deleted = columns.numbers(deletes, steps.rows)
    contents = columns.read(deletes, steps.content)
    ends = pairwise(accumulate(n_deletes, initial=0))
    locations = columns.read(tasks, steps.file, steps.location) if laid_out_by else []
    rows = zip(
        columns.numbers(tasks, steps.file, steps.length),
        columns.numbers(tasks, steps.file, steps.rows),
        n_deletes,
        ends,
        columns.numbers(tasks, steps.file, steps.sequence),
        strict=True,
    )
    for n, (n_bytes, n_rows, n_of, (start, end), sequence) in enumerate(rows):
        is_laid_out = bool(laid_out_by) and not laid_out_by.isdisjoint(write_ids_of(locations[n]))
        yield PlannedFile(
            n,
            n_bytes,
            n_rows,
            n_of,
            sum(deleted[start:end]),
            sequence,
            is_laid_out,
            "EQUALITY_DELETES" in contents[start:end],
        )
