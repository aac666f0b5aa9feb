"""Samples columns of some data files, in Spark's executors; only hashes and bounds come back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.jobs.arrow_values import values_of
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.coverage import LiveFile
from optimizer.iceberg.indexing.jobs.reading import signed, staged_rows
from optimizer.indexes.domain.choice.profile import FileSample, sampled
from optimizer.indexes.domain.hashing import hash_bytes

MOST_FILES = 16
MOST_ROWS = 20_000
"""So many rows of a file are looked at: its first ones, because a file is read from its start."""
_SCHEMA = "file long, field int, hashes binary, low string, high string, value_bytes double"
_TYPES: dict[str, pa.DataType] = {
    "file": pa.int64(),
    "field": pa.int32(),
    "hashes": pa.binary(),
    "low": pa.string(),
    "high": pa.string(),
    "value_bytes": pa.float64(),
}
_ARROW = pa.schema(_TYPES)


def spread(files: Sequence[LiveFile], n: int = MOST_FILES) -> list[LiveFile]:
    """Return at most `n` files with rows, evenly spread over the list."""
    whole = [one for one in files if one.data_file.records]
    if len(whole) <= n:
        return whole
    return [whole[at * len(whole) // n] for at in range(n)]


def sample_columns(
    table: IcebergTable, files: Sequence[LiveFile], columns: Sequence[IndexedColumn]
) -> dict[int, list[FileSample]]:
    """Return the samples of each column by field id; a file with only nulls gives none.

    Raises:
        PortalError: what Spark or the file system said, sorted.
    """
    paths = [column.sql for column in columns]
    rows_of = {signed(hash_bytes(one.data_file.location.encode())): one for one in files}

    def sample(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return samples_of(batches, columns)

    found: dict[int, list[FileSample]] = {column.field_id: [] for column in columns}
    with clear_errors(table.name), staged_rows(table, files, paths) as frame:
        for row in frame.mapInArrow(sample, _SCHEMA).collect():
            hashes = np.frombuffer(bytes(row["hashes"]), dtype=np.uint64)
            n_rows = rows_of[row["file"]].data_file.records
            # What was looked at is a part of the file's rows, nulls among them.
            found[row["field"]].append(
                FileSample(hashes, int(row["low"]), int(row["high"]), n_rows, row["value_bytes"])
            )
    return found


def samples_of(
    batches: Iterable[pa.RecordBatch], columns: Sequence[IndexedColumn]
) -> Iterator[pa.RecordBatch]:
    """Yield the samples of a task's files, each from its first batch of rows."""
    seen: set[int] = set()
    for batch in batches:
        keys = np.asarray(batch.column(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        cuts = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
        for start, end in pairwise(cuts):
            if start == end or int(keys[start]) in seen:
                continue
            seen.add(int(keys[start]))
            n_rows = min(end - start, MOST_ROWS)
            slices = [batch.column(n + 1).slice(start, n_rows) for n in range(len(columns))]
            yield _packed(int(keys[start]), columns, slices)


def _packed(
    key: int, columns: Sequence[IndexedColumn], slices: Sequence["pa.Array[Any]"]
) -> pa.RecordBatch:
    rows = []
    for column, rows_of in zip(columns, slices, strict=True):
        found = sampled(values_of(rows_of, column.type, first_row=0), len(rows_of))
        if found is not None:
            rows.append(
                {
                    "file": key,
                    "field": column.field_id,
                    "hashes": found.hashes.tobytes(),
                    "low": str(found.low),
                    "high": str(found.high),
                    "value_bytes": found.value_bytes,
                }
            )
    return pa.RecordBatch.from_pylist(rows, schema=_ARROW)
