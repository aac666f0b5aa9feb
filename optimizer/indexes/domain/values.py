"""What an index knows of a column's type, and the numbers and bytes its values become.

A value has bytes (for hashes and dictionaries) and an order number (for ranges); see "Bytes of a
value" in docs/indexes.md. Classes are wide, so that a promotion of a type needs no new index.
"""

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.indexes.domain.byte_strings import Bools, Bytes, ByteStrings, Longs, Words
from optimizer.indexes.domain.hashing import hash_strings, hash_words

TOP = 1 << 63
NAN_BITS = 0x7FF8000000000000
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_LONG_DIGITS = 18
"""Unscaled decimals of at most so many digits fit 64 bits, and so have order numbers."""


class ValueClass(IntEnum):
    """The class of a column's values, as the header of a blob names it."""

    BOOLEAN = 1
    INTEGER = 2
    DATE = 3
    TIME = 4
    TIMESTAMP = 5
    TIMESTAMPTZ = 6
    TIMESTAMP_NS = 7
    TIMESTAMPTZ_NS = 8
    FLOAT = 9
    DECIMAL = 10
    STRING = 11
    UUID = 12
    BINARY = 13


_CLASSES = {
    "boolean": ValueClass.BOOLEAN,
    "int": ValueClass.INTEGER,
    "long": ValueClass.INTEGER,
    "date": ValueClass.DATE,
    "time": ValueClass.TIME,
    "timestamp": ValueClass.TIMESTAMP,
    "timestamptz": ValueClass.TIMESTAMPTZ,
    "timestamp_ns": ValueClass.TIMESTAMP_NS,
    "timestamptz_ns": ValueClass.TIMESTAMPTZ_NS,
    "float": ValueClass.FLOAT,
    "double": ValueClass.FLOAT,
    "string": ValueClass.STRING,
    "uuid": ValueClass.UUID,
    "binary": ValueClass.BINARY,
}
NUMBERS = frozenset(ValueClass) - {
    ValueClass.DECIMAL,
    ValueClass.STRING,
    ValueClass.UUID,
    ValueClass.BINARY,
}
"""Classes whose values are 64-bit numbers; the others' are byte strings."""


@dataclass(frozen=True)
class ColumnType:
    """A column's class, with what a class leaves open."""

    value_class: ValueClass
    scale: int = 0
    digits: int = 0
    """Of a decimal: its precision."""
    single: bool = False
    """A `float`: its values were rounded to 32 bits."""

    @property
    def has_order(self) -> bool:
        """Whether every value has an order number of 64 bits."""
        return self.value_class != ValueClass.DECIMAL or self.digits <= _LONG_DIGITS


def column_type(iceberg_type: str) -> ColumnType | None:
    """Return what an index knows of this type; None where no index of it can be built."""
    name = iceberg_type.strip().lower()
    if name in _CLASSES:
        return ColumnType(_CLASSES[name], single=name == "float")
    if name.startswith("fixed["):
        return ColumnType(ValueClass.BINARY)
    if found := _DECIMAL.fullmatch(name):
        return ColumnType(ValueClass.DECIMAL, int(found[2]), int(found[1]))
    return None


@dataclass(frozen=True)
class Values:
    """Some consecutive rows of one column: numbers as 64 bits, or byte strings, with validity.

    Rows count from `first_row` in the order of the file. What stands at a null does not matter.
    Of byte strings there may be the hashes alone, where only a filter is to be built.
    """

    type: ColumnType
    first_row: int
    bits: Words | None = None
    strings: ByteStrings | None = None
    valid: Bools | None = None
    hashes: Words | None = None

    @property
    def count(self) -> int:
        """How many rows these are, nulls too."""
        if self.strings is not None:
            return len(self.strings)
        if self.hashes is not None:
            return len(self.hashes)
        return 0 if self.bits is None else len(self.bits)

    def without_nulls(self) -> "Values":
        """Return the values that are there; their row numbers are `present_rows`."""
        if self.valid is None or bool(self.valid.all()):
            return replace(self, valid=None)
        bits = None if self.bits is None else self.bits[self.valid]
        strings = None if self.strings is None else self.strings.take(self.valid)
        hashes = None if self.hashes is None else self.hashes[self.valid]
        return Values(self.type, self.first_row, bits, strings, hashes=hashes)

    def present_rows(self) -> Longs:
        """Return the row numbers of the values that are there."""
        if self.valid is None:
            return np.arange(self.first_row, self.first_row + self.count, dtype=np.int64)
        return np.flatnonzero(self.valid) + self.first_row

    def null_rows(self) -> Longs:
        """Return the row numbers of the nulls."""
        if self.valid is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(~self.valid) + self.first_row


def value_hashes(values: Values) -> Words:
    """Return the hash of each value; nulls must have been taken out."""
    if values.hashes is not None:
        return values.hashes
    if values.strings is not None:
        return hash_strings(values.strings)
    return hash_words(values.bits) if values.bits is not None else np.empty(0, np.uint64)


def number_values(
    kind: ColumnType, array: NDArray[Any], *, valid: Bools | None = None, first_row: int = 0
) -> Values:
    """Return values of a class of numbers from integers, floats or booleans of any width.

    Times of day count microseconds; `datetime64` and other units are the caller's to convert.
    """
    if kind.value_class == ValueClass.FLOAT:
        return Values(kind, first_row, float_bits(array), valid=valid)
    return Values(kind, first_row, array.astype(np.int64).view(np.uint64), valid=valid)


def float_bits(array: NDArray[Any]) -> Words:
    """Return the bits of doubles, with one NaN and one zero."""
    doubles = array.astype(np.float64)
    bits: Words = np.where(doubles == 0, 0.0, doubles).view(np.uint64)
    return np.where(np.isnan(doubles), np.uint64(NAN_BITS), bits)


def decimal_values(
    kind: ColumnType,
    low: Words,
    high: Longs,
    *,
    valid: Bools | None = None,
    first_row: int = 0,
) -> Values:
    """Return decimals from the two halves of Arrow's 128-bit unscaled numbers."""
    whole = np.stack([high.astype(np.int64).view(np.uint64), low], axis=1).byteswap()
    matrix: Bytes = np.ascontiguousarray(whole).view(np.uint8).reshape(-1, 16)
    sign = np.where(high < 0, np.uint8(0xFF), np.uint8(0))[:, None]
    # A byte may go while it and the highest bit of the next say no more than the sign.
    spare = (matrix[:, :-1] == sign) & ((matrix[:, 1:] & 0x80) == (sign & 0x80))
    skipped = np.cumprod(spare, axis=1).sum(axis=1)
    kept = np.arange(16)[None, :] >= skipped[:, None]
    offsets = np.zeros(len(low) + 1, np.int64)
    np.cumsum(16 - skipped, out=offsets[1:])
    strings = ByteStrings(offsets, matrix[kept])
    return Values(kind, first_row, low if kind.has_order else None, strings, valid)


def string_values(
    kind: ColumnType, strings: ByteStrings, *, valid: Bools | None = None, first_row: int = 0
) -> Values:
    """Return values of strings, binaries or UUIDs from their bytes."""
    return Values(kind, first_row, strings=strings, valid=valid)


def uuid_bytes(texts: ByteStrings, valid: Bools | None = None) -> ByteStrings:
    """Return the 16 bytes of UUIDs that are written as text; zeros where one is null."""
    kept = texts.take(np.ones(len(texts), np.bool_) if valid is None else valid)
    flat = np.frombuffer(bytes.fromhex(kept.data.tobytes().decode().replace("-", "")), np.uint8)
    matrix = np.zeros((len(texts), 16), np.uint8)
    matrix[slice(None) if valid is None else valid] = flat.reshape(-1, 16)
    return ByteStrings.fixed(16, matrix.tobytes())


def order_numbers(values: Values) -> Words:
    """Return the order number of each value, u64; decimals must have at most 18 digits."""
    if values.bits is not None:
        return order_of_bits(values.type.value_class, values.bits)
    if values.strings is not None and values.type.value_class != ValueClass.DECIMAL:
        return values.strings.first_words()
    return np.empty(0, np.uint64)


def order_of_bits(kind: ValueClass, bits: Words) -> Words:
    """Return the order numbers of numbers that are given as 64 bits."""
    if kind == ValueClass.BOOLEAN:
        return bits
    if kind == ValueClass.FLOAT:
        negative = bits >> np.uint64(63) == 1
        return np.where(negative, ~bits, bits ^ np.uint64(TOP))
    return bits ^ np.uint64(TOP)
