"""Lists a table's data files at main's snapshot as coverage knows them: with their deletes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.coverage import CoveredFile, delete_fingerprint
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
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
        rows = zip(
            columns.read(of_spec, steps.file, steps.location),
            columns.numbers(of_spec, steps.file, steps.rows),
            columns.numbers(of_spec, steps.file, steps.length),
            columns.numbers(of_spec, steps.file, steps.sequence),
            columns.read(of_spec, steps.file, steps.partition, to_path),
            columns.numbers(of_spec, steps.deletes, steps.size),
            strict=True,
        )
        for n, (location, records, size, newest, partition, n_deletes) in enumerate(rows):
            task = of_spec.get(n)
            deletes = _fingerprint(task) if n_deletes else ""
            file = CoveredFile(location, records, deletes)
            yield TableFile(file, f"{spec_id}/{partition}", newest, size, task)


def _fingerprint(task: Any) -> str:
    found = []
    for one in task.deletes():
        offset = one.contentOffset()
        found.append((str(one.location()), None if offset is None else int(offset)))
    return delete_fingerprint(found)


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
        read = table.spark.read.format("iceberg").option("scan-task-set-id", set_id).load(set_id)
        yield read.select(
            F.xxhash64(F.input_file_name()).alias(FILE_HASH),
            *(F.expr(sql).alias(name) for name, sql in columns.items()),
        )
    finally:
        manager.removeTasks(table.java, set_id)
        cache.remove(set_id)
