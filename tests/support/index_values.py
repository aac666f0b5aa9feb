"""Values of index tests: from plain Python values, one way, independent of the vectorised one."""

import math
import struct
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

import numpy as np

from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.values import (
    NUMBERS,
    ColumnType,
    ValueClass,
    Values,
    decimal_values,
    number_values,
    string_values,
)

Plain = int | float | bool | str | bytes | Decimal | UUID


def plain_bytes(kind: ColumnType, value: Plain) -> bytes:
    """Return the bytes of one value as docs/indexes.md says, without numpy."""
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, float):
        if math.isnan(value):
            return bytes.fromhex("000000000000f87f")
        return struct.pack("<d", value + 0.0)
    if isinstance(value, Decimal):
        unscaled = _unscaled(kind, value)
        negated = unscaled if unscaled >= 0 else -unscaled - 1
        return unscaled.to_bytes(negated.bit_length() // 8 + 1, "big", signed=True)
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, int):
        return struct.pack("<q", value)
    return value.encode() if isinstance(value, str) else value


def _unscaled(kind: ColumnType, value: Plain | None) -> int:
    return int(value.scaleb(kind.scale)) if isinstance(value, Decimal) else 0


def values_of(kind: ColumnType, plain: Sequence[Plain | None], first_row: int = 0) -> Values:
    """Return these values as a builder would get them from Arrow."""
    valid = None if None not in plain else np.array([one is not None for one in plain])
    if kind.value_class in NUMBERS:
        width = np.float64 if kind.value_class == ValueClass.FLOAT else np.int64
        array = np.array([0 if one is None else one for one in plain], width)
        return number_values(kind, array, valid=valid, first_row=first_row)
    if kind.value_class == ValueClass.DECIMAL:
        unscaled = [_unscaled(kind, one) for one in plain]
        low = np.array([one & (1 << 64) - 1 for one in unscaled], np.uint64)
        high = np.array([one >> 64 for one in unscaled], np.int64)
        return decimal_values(kind, low, high, valid=valid, first_row=first_row)
    strings = ByteStrings.of(b"" if one is None else plain_bytes(kind, one) for one in plain)
    return string_values(kind, strings, valid=valid, first_row=first_row)
