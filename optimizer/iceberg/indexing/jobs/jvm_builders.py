"""Has the JVM build filters and bitmaps where it reads the rows, which no other process then sees.

It gives bodies, byte for byte those of `optimizer.indexes.domain.builders`; their headers are
written here. What it does not build (UUIDs, some times, very large files) goes to Python.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from pyspark.sql import DataFrame

from optimizer.iceberg.indexing.domain.wanted import AUTO
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.file_indexes import (
    FinishedIndex,
    auto_filter,
    bits_a_key,
    one_value,
)
from optimizer.indexes.domain.bitmaps.building import MOST_VALUE_BYTES, MOST_VALUES
from optimizer.indexes.domain.bitmaps.pieces import MOST_PAIRS, MOST_PIECE_BYTES, MOST_PIECES
from optimizer.indexes.domain.bloom import MOST_KEYS
from optimizer.indexes.domain.builders import NOT_TEXT, Built, Wanted, blob_of
from optimizer.indexes.domain.choice.kinds import OF_PIECES
from optimizer.indexes.domain.envelope import Expected, Flag, Form, Kind
from optimizer.indexes.domain.values import ValueClass

_NGRAMS = Wanted.n
_NGRAM_KINDS = frozenset({Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})
_KINDS = frozenset({*Kind, AUTO})
_CLASSES = frozenset(ValueClass) - {
    ValueClass.UUID,
    ValueClass.TIME,
    ValueClass.TIMESTAMP_NS,
    ValueClass.TIMESTAMPTZ_NS,
}
_MOST_AT_ONCE = 4_000_000
"""Keys of one data file are held in the JVM at the cost of up to 40 bytes each."""
_REFUSED = {
    "too many keys": f"more than {MOST_KEYS:,} distinct keys",
    "too many values": f"more than {MOST_VALUES:,} distinct values",
    "too many bytes": f"distinct values of more than {MOST_VALUE_BYTES:,} bytes",
    "too many pieces": f"more than {MOST_PIECES:,} distinct values",
    "too many bytes of pieces": f"distinct values of more than {MOST_PIECE_BYTES:,} bytes",
    "too many pairs": f"more than {MOST_PAIRS:,} pairs of piece and row",
    "one value": one_value(1).detail,
    "not text": NOT_TEXT,
    "only nulls": one_value(0).detail,
}


def is_built_by_jvm(columns: Sequence[IndexedColumn], records: int) -> bool:
    """Whether the JVM builds these indexes of a data file of so many rows."""
    return records * len(columns) <= _MOST_AT_ONCE and all(
        one.to_build in _KINDS and one.type.value_class in _CLASSES for one in columns
    )


def built_by_jvm(
    rows: DataFrame, columns: Sequence[IndexedColumn], of_path: Sequence[int], *, table_uuid: str
) -> Iterator[tuple[int, int, FinishedIndex]]:
    """Yield the indexes of data files, with the signed hash of the file's name and its rows.

    `rows` has a column for each path; `of_path` says which of them each index is of.
    """
    spark = rows.sparkSession
    jvm: Any = spark._jvm
    said = jvm.java.util.ArrayList()
    for column, place in zip(columns, of_path, strict=True):
        said.add(_said(column, place))
    built = DataFrame(jvm.lakewarden.spark.indexes.BuiltIndexes.of(rows._jdf, said), spark)
    for row in built.collect():
        column = columns[row["wanted"]]
        yield row["file"], row["rows"], _finished(row, column, table_uuid)


def _said(column: IndexedColumn, place: int) -> str:
    """Return how the JVM is told of an index: column, kind, choice, bits a key, most keys, n."""
    kind, choice = Kind.BITMAP.value, "named"
    if column.kind != AUTO:
        kind = column.kind
    elif column.chosen in (Kind.BLOOM, Kind.BLOOMRF):
        kind, choice = column.chosen, "chosen"
    elif column.chosen in OF_PIECES:
        kind = column.chosen
    else:
        kind, choice = auto_filter(column.type) or "none", "auto"
    n = (column.parameter or _NGRAMS) if kind in _NGRAM_KINDS else 0
    bits = bits_a_key(kind) if n or column.parameter is None else column.parameter
    return f"{place} {kind} {choice} {float(bits)} {MOST_KEYS} {n}"


def _finished(row: Any, column: IndexedColumn, table_uuid: str) -> FinishedIndex:
    if row["refused"]:
        return FinishedIndex(column.field_id, column.kind, "", _REFUSED[row["refused"]], b"")
    form, unsigned = Form(row["form"]), row["file"] % (1 << 64)
    n = (column.parameter or _NGRAMS) if form.kind in _NGRAM_KINDS else 0
    of = Expected(UUID(table_uuid), column.field_id, unsigned, row["rows"], column.type)
    blob = blob_of(Built(form, bytes(row["body"]), Flag(row["flags"]), n), of)
    passed = None if row["passed"] < 0 else row["passed"]
    return FinishedIndex(column.field_id, column.kind, form.kind.value, "", blob, passed)
