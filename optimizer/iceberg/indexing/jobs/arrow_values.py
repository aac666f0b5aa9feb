"""Turns columns of Arrow, as Spark hands them over, into the values of which indexes are built.

Everything works on whole buffers; only what Spark writes as text (UUIDs) is read again.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.values import (
    ColumnType,
    ValueClass,
    Values,
    decimal_values,
    number_values,
    string_values,
    uuid_bytes,
)

Bools = NDArray[np.bool_]
_AT_NULL = False
_TEXT = frozenset({ValueClass.STRING, ValueClass.UUID, ValueClass.BINARY})
_HASHED = frozenset({ValueClass.STRING, ValueClass.BINARY})


def is_hashed_by_spark(kind: ColumnType, wanted: Iterable[str]) -> bool:
    """Whether Spark hands over hashes of a column: byte strings of which only filters are wanted.

    Spark's `xxhash64` is the format's hash of just these, and eight bytes come instead of a text.
    """
    return kind.value_class in _HASHED and set(wanted) == {Kind.BLOOM.value}


def values_of(column: "pa.Array[Any]", kind: ColumnType, *, first_row: int) -> Values:
    """Return the values of a slice of a column; `first_row` is its first row in the data file.

    Numbers that stand for byte strings are their hashes (`is_hashed_by_spark`).
    """
    valid: Bools | None = None
    if column.null_count:
        valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    if kind.value_class in _TEXT and pa.types.is_int64(column.type):
        hashes = _numbers(column).view(np.uint64)
        return Values(kind, first_row, valid=valid, hashes=hashes)
    if kind.value_class in _TEXT:
        strings = _strings(column, valid)
        if kind.value_class is ValueClass.UUID and not pa.types.is_binary(column.type):
            strings = uuid_bytes(strings, valid)
        return string_values(kind, strings, valid=valid, first_row=first_row)
    if kind.value_class is ValueClass.DECIMAL:
        halves = np.frombuffer(_data(column), dtype=np.int64).reshape(-1, 2)
        mine = halves[column.offset : column.offset + len(column)]
        low = np.ascontiguousarray(mine[:, 0]).view(np.uint64)
        high = np.ascontiguousarray(mine[:, 1])
        return decimal_values(kind, low, high, valid=valid, first_row=first_row)
    return number_values(kind, _numbers(column), valid=valid, first_row=first_row)


def _numbers(column: "pa.Array[Any]") -> NDArray[Any]:
    """Return numbers as they are counted: days, microseconds, or as the column has them."""
    of = column.type
    if pa.types.is_boolean(of):
        filled: Any = column.fill_null(_AT_NULL)
        return np.asarray(filled.to_numpy(zero_copy_only=False)).astype(np.int64)
    if pa.types.is_date(of):
        column = column.cast(pa.date32()).view(pa.int32())
    elif pa.types.is_timestamp(of) or pa.types.is_time(of):
        column = column.view(pa.int64() if of.bit_width == 64 else pa.int32())
    width = column.type.bit_width // 8
    code = "f" if pa.types.is_floating(column.type) else "i"
    numbers = np.frombuffer(_data(column), dtype=np.dtype(f"<{code}{width}"))
    return numbers[column.offset : column.offset + len(column)]


def _strings(column: "pa.Array[Any]", valid: Bools | None) -> ByteStrings:
    """Return the bytes of text without copying them; what stands at a null has no bytes."""
    if valid is not None:
        # Arrow allows any bytes there.
        filled: Any = "" if pa.types.is_string(column.type) else b""
        column = pc.fill_null(column, filled)
    buffers: Any = column.buffers()
    is_large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    kind: Any = np.int64 if is_large else np.int32
    if buffers[1] is None or not len(column):
        return ByteStrings.of([])
    offsets = np.frombuffer(buffers[1], dtype=kind)
    mine = offsets[column.offset : column.offset + len(column) + 1].astype(np.int64)
    # Only what the slice spans: the buffer is that of the whole batch.
    first, last = int(mine[0]), int(mine[-1])
    data = np.frombuffer(buffers[2] or b"", dtype=np.uint8)[first:last]
    return ByteStrings(mine - first, data)


def _data(column: "pa.Array[Any]") -> Any:
    return column.buffers()[1] or b""
