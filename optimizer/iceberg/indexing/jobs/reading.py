"""Reads data files once for all their indexes, in Spark's executors, without a shuffle.

The scan tasks of exactly these files are staged without their deletes: rows that are deleted are
indexed as others, because older snapshots still have them. A file is never split, so a task meets
its rows in the file's order, and a row's number is counted; `_pos` cannot be selected of a staged
table of format 3. Which file a row is of is told by the hash of its name, as Spark reads it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, pairwise, repeat
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.task_sizes import OPEN_BYTES, task_bytes
from optimizer.iceberg.indexing.jobs.arrow_values import is_hashed_by_spark
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.coverage import LiveFile
from optimizer.iceberg.indexing.jobs.file_indexes import FileIndexes
from optimizer.iceberg.indexing.jobs.jvm_builders import built_by_jvm, is_built_by_jvm
from optimizer.indexes.domain.hashing import hash_bytes

_ICEBERG = "org.apache.iceberg."
_BATCH_BYTES = 32 << 20
_UNPACKED = 8
"""So many times its bytes in the file a row takes in memory, at a guess."""
_ROWS_A_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_MOST_ROWS, _LEAST_ROWS = 65_536, 64
_SCHEMA = (
    "file long, rows long, field int, wanted string, kind string, refused string, passed int, "
    "blob binary"
)
_TYPES: dict[str, pa.DataType] = {
    "file": pa.int64(),
    "rows": pa.int64(),
    "field": pa.int32(),
    "wanted": pa.string(),
    "kind": pa.string(),
    "refused": pa.string(),
    "passed": pa.int32(),
    "blob": pa.binary(),
}
_ARROW = pa.schema(_TYPES)


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """One index as it came from an executor, or why there is none."""

    rows: int
    field_id: int
    wanted: str
    kind: str
    refused: str
    blob: bytes
    passed: int | None = None


def build_indexes(
    table: IcebergTable, files: Sequence[LiveFile], columns: Sequence[IndexedColumn]
) -> dict[str, list[BuiltIndex]]:
    """Return the indexes of some data files by location; all of them come to the driver at once.

    Raises:
        PortalError: what Spark or the file system said, sorted.
    """
    locations = {signed(hash_bytes(one.data_file.location.encode())): one for one in files}
    ours = [one for one in files if is_built_by_jvm(columns, one.data_file.records)]
    others = [one for one in files if not is_built_by_jvm(columns, one.data_file.records)]
    found: dict[str, list[BuiltIndex]] = {}
    with clear_errors(table.name):
        for key, built in (*_by_jvm(table, ours, columns), *_by_python(table, others, columns)):
            found.setdefault(locations[key].data_file.location, []).append(built)
    return found


def _by_jvm(
    table: IcebergTable, files: Sequence[LiveFile], columns: Sequence[IndexedColumn]
) -> Iterator[tuple[int, BuiltIndex]]:
    if not files:
        return
    paths = list(dict.fromkeys(one.sql for one in columns))
    of_path = [paths.index(one.sql) for one in columns]
    with staged_rows(table, files, paths) as rows:
        read = rows.drop("file")
        for key, n, one in built_by_jvm(read, columns, of_path, table_uuid=table.uuid):
            yield (
                key,
                BuiltIndex(
                    n, one.field_id, one.wanted, one.kind, one.refused, one.blob, one.passed
                ),
            )


def _by_python(
    table: IcebergTable, files: Sequence[LiveFile], columns: Sequence[IndexedColumn]
) -> Iterator[tuple[int, BuiltIndex]]:
    if not files:
        return
    paths = list(dict.fromkeys(map(_selected, columns, repeat(columns))))
    of_path = [paths.index(_selected(column, columns)) for column in columns]
    locations = {
        signed(hash_bytes(location.encode())): location
        for location in (one.data_file.location for one in files)
    }
    uuid = table.uuid

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return indexes_of(batches, columns, of_path, locations, table_uuid=uuid)

    with staged_rows(table, files, paths) as rows:
        for row in rows.mapInArrow(build, _SCHEMA).collect():
            yield (
                row["file"],
                BuiltIndex(
                    int(row["rows"]),
                    int(row["field"]),
                    str(row["wanted"]),
                    str(row["kind"]),
                    str(row["refused"]),
                    bytes(row["blob"]),
                    row["passed"],
                ),
            )


def _selected(column: IndexedColumn, columns: Iterable[IndexedColumn]) -> str:
    """Return what Spark selects of a column for all indexes of it."""
    wanted = [one.to_build for one in columns if one.field_id == column.field_id]
    if not is_hashed_by_spark(column.type, wanted):
        return column.sql
    return f"CASE WHEN {column.sql} IS NOT NULL THEN xxhash64({column.sql}) END"


@contextmanager
def staged_rows(
    table: IcebergTable, files: Sequence[LiveFile], paths: Sequence[str]
) -> Iterator[DataFrame]:
    """Give columns of some data files as they were written, each file within one task.

    The first column is the signed hash of the file's location, `c0`, `c1`, ... are the paths.
    """
    spark = table.spark
    set_id = uuid4().hex
    cache = table.columns.static(_ICEBERG + "spark.SparkTableCache", "get")
    manager = table.jvm.org.apache.iceberg.spark.ScanTaskSetManager.get()
    sizes = [one.data_file.size for one in files]
    wanted = task_bytes(spark, n_bytes=sum(sizes), n_files=len(sizes))
    cache.add(set_id, table.java)
    manager.stageTasks(table.java, set_id, _without_deletes(table, files))
    try:
        spark.conf.set(_ROWS_A_BATCH, str(_rows_a_batch(files)))
        read = spark.read.format("iceberg").option("scan-task-set-id", set_id)
        rows = (
            read.option("split-size", str(max(wanted, max(sizes) + 1)))
            .option("file-open-cost", str(OPEN_BYTES))
            .load(set_id)
        )
        named = [F.xxhash64(F.input_file_name()).alias("file")]
        named += [F.expr(path).alias(f"c{n}") for n, path in enumerate(paths)]
        yield rows.select(*named)
    finally:
        manager.removeTasks(table.java, set_id)
        cache.remove(set_id)


def indexes_of(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[IndexedColumn],
    of_path: Sequence[int],
    locations: Mapping[int, str],
    *,
    table_uuid: str,
) -> Iterator[pa.RecordBatch]:
    """Yield the indexes of each file of a task, as soon as its last row was seen."""
    key, current = 0, None
    for batch in batches:
        keys = np.asarray(batch.column(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        if not len(keys):
            continue
        cuts = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
        for start, end in pairwise(cuts):
            if current is None or keys[start] != key:
                if current is not None:
                    yield _packed(key, current)
                key = int(keys[start])
                current = FileIndexes(columns, location=locations[key], table_uuid=table_uuid)
            current.add([batch.column(n + 1).slice(start, end - start) for n in of_path])
    if current is not None:
        yield _packed(key, current)


def _packed(key: int, file: FileIndexes) -> pa.RecordBatch:
    rows = [
        {
            "file": key,
            "rows": file.n_rows,
            "field": one.field_id,
            "wanted": one.wanted,
            "kind": one.kind,
            "refused": one.refused,
            "passed": one.passed,
            "blob": one.blob,
        }
        for one in file.finish()
    ]
    return pa.RecordBatch.from_pylist(rows, schema=_ARROW)


def _without_deletes(table: IcebergTable, files: Sequence[LiveFile]) -> Any:
    """Return scan tasks of whole files: without deletes, and without places to split them at."""
    found = table.jvm.java.util.ArrayList(len(files))
    # A list of Java's for each branch; a call for each file took as long as reading a column.
    for _, group in groupby(files, key=lambda one: id(one.tasks)):
        of_list = list(group)
        numbers = ",".join(str(one.n) for one in of_list)
        whole = table.jvm.lakewarden.spark.indexes.WholeFiles
        found.addAll(whole.of(table.java, of_list[0].tasks, numbers))
    return found


def _rows_a_batch(files: Sequence[LiveFile]) -> int:
    """Return how many rows come to Python at once, by the widest rows of these files."""
    widest = max(one.data_file.size / max(one.data_file.records, 1) for one in files)
    return int(min(_MOST_ROWS, max(_LEAST_ROWS, _BATCH_BYTES / (widest * _UNPACKED + 1))))


def signed(number: int) -> int:
    """Return an unsigned number of 64 bits as Spark has it."""
    return number - (1 << 64) if number >= 1 << 63 else number
