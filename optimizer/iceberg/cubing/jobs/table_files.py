"""Lists a table's data files at main's snapshot as coverage knows them: with their deletes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.core.jobs.java_columns import JavaColumns
from optimizer.cubes.domain.coverage import CoveredFile, delete_fingerprint
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.task_sizes import OPEN_BYTES, task_bytes
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns, all_tasks

_ICEBERG = "org.apache.iceberg."
FILE_HASH = "_lakewarden_file"


@dataclass(frozen=True)
class TableFile:
    """One data file of main; `task` is its scan task, with its deletes."""

    covered: CoveredFile
    partition: str
    newest: int
    size: int
    task: Any = field(repr=False, compare=False)


def table_files(table: IcebergTable) -> list[TableFile]:
    """Return the data files of main's snapshot, those of the newest partitions first."""
    if table.snapshot is None:
        return []
    with clear_errors(table.name):
        found = list(_planned(table))
    newest: dict[str, int] = {}
    for one in found:
        newest[one.partition] = max(one.newest, newest.get(one.partition, 0))
    return sorted(
        found,
        key=lambda one: (newest[one.partition], one.partition, one.newest, one.covered.location),
        reverse=True,
    )


def _planned(table: IcebergTable) -> Iterator[TableFile]:
    tasks = all_tasks(table)
    if tasks.isEmpty():
        return
    columns, steps = table.columns, TaskColumns(table.columns)
    specs = table.java.specs()
    for spec_id, of_spec in columns.grouped(tasks, steps.file.andThen(steps.spec)).items():
        to_path = columns.step(
            _ICEBERG + "PartitionSpec",
            "partitionToPath",
            _ICEBERG + "StructLike",
            of=specs.get(spec_id),
        )
        covered, sizes = covered_files(columns, steps, of_spec)
        newest = columns.numbers(of_spec, steps.file, steps.sequence)
        partitions = columns.read(of_spec, steps.file, steps.partition, to_path)
        rows = zip(covered, sizes, newest, partitions, strict=True)
        for n, (file, size, sequence, partition) in enumerate(rows):
            yield TableFile(file, f"{spec_id}/{partition}", sequence, size, of_spec.get(n))


def covered_files(
    columns: JavaColumns, steps: TaskColumns, tasks: Any
) -> tuple[list[CoveredFile], list[int]]:
    """Return the data files of scan tasks with their deletes, and their bytes, in the tasks' order.

    Nothing is asked of one task or delete file alone.
    """
    locations = columns.read(tasks, steps.file, steps.location)
    records = columns.numbers(tasks, steps.file, steps.rows)
    sizes = columns.numbers(tasks, steps.file, steps.length)
    n_deletes = columns.numbers(tasks, steps.deletes, steps.size)
    deletes = columns.flat(tasks, steps.deletes)
    offset = columns.step(_ICEBERG + "DeleteFile", "contentOffset")
    names = columns.read(deletes, steps.location) if deletes.size() else []
    offsets = columns.read(deletes, offset) if deletes.size() else []
    found, start = [], 0
    for location, n_rows, n in zip(locations, records, n_deletes, strict=True):
        of_file = [
            (names[at], None if offsets[at] == "null" else int(offsets[at]))
            for at in range(start, start + n)
        ]
        found.append(CoveredFile(location, n_rows, delete_fingerprint(of_file)))
        start += n
    return found, list(sizes)


@contextmanager
def live_rows(
    table: IcebergTable, files: Sequence[TableFile], columns: dict[str, str]
) -> Iterator[DataFrame]:
    """Give the rows of just these files, without deleted ones; `columns` are name to SQL.

    `FILE_HASH` is the hash of the file that a row is of.
    """
    set_id = uuid4().hex
    cache = table.columns.static(_ICEBERG + "spark.SparkTableCache", "get")
    manager = table.jvm.org.apache.iceberg.spark.ScanTaskSetManager.get()
    tasks = table.jvm.java.util.ArrayList(len(files))
    for one in files:
        tasks.add(one.task)
    cache.add(set_id, table.java)
    manager.stageTasks(table.java, set_id, tasks)
    try:
        size = task_bytes(table.spark, n_bytes=sum(one.size for one in files), n_files=len(files))
        read = table.spark.read.format("iceberg").option("scan-task-set-id", set_id)
        rows = read.option("split-size", str(size)).option("file-open-cost", str(OPEN_BYTES))
        yield rows.load(set_id).select(
            F.xxhash64(F.input_file_name()).alias(FILE_HASH),
            *(F.expr(sql).alias(name) for name, sql in columns.items()),
        )
    finally:
        manager.removeTasks(table.java, set_id)
        cache.remove(set_id)
