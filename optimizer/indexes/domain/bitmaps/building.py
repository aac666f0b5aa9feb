"""Builds the bitmap of a column: by equality for few values, by the bits of the rank for many.

Each row's value is held as a number of 1, 2 or 4 bytes until the end, because a rank is known only
when all values are.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from optimizer.indexes.domain.bitmaps.dictionary import Key, Numbering, coded, written
from optimizer.indexes.domain.bitmaps.rows import bitmap_of, packed
from optimizer.indexes.domain.byte_strings import Longs
from optimizer.indexes.domain.envelope import Form
from optimizer.indexes.domain.values import ColumnType, ValueClass, Values

MOST_BY_EQUALITY = 100
"""Beyond this many values the sliced form is smaller."""
MOST_VALUES = 1 << 18
MOST_VALUE_BYTES = 16 << 20
_TWO = struct.Struct("<II")
_ONE = struct.Struct("<I")


class BitmapBuilder:
    """Builds the body of a column's bitmap from its values, in the order of the rows."""

    def __init__(
        self,
        kind: ColumnType,
        *,
        by_equality: int = MOST_BY_EQUALITY,
        most_values: int = MOST_VALUES,
        most_bytes: int = MOST_VALUE_BYTES,
    ) -> None:
        self._fixed = kind.value_class == ValueClass.DECIMAL
        self._by_equality = by_equality
        self._numbering = Numbering(most_values, most_bytes)
        self._rows: list[tuple[int, NDArray[np.uint32] | None, NDArray[Any]]] = []
        self._nulls = BitMap()

    def add(self, values: Values) -> None:
        """Take in some rows, nulls too.

        Raises:
            TooManyKeys: When there are more distinct values, or longer ones, than a bitmap holds.
        """
        keys, places = coded(values.without_nulls())
        codes = self._numbering.of(keys)[places]
        has_nulls = values.valid is not None and not values.valid.all()
        rows = values.present_rows().astype(np.uint32) if has_nulls else None
        self._rows.append((values.first_row, rows, codes.astype(_narrowest(len(self._numbering)))))
        if has_nulls:
            self._nulls |= bitmap_of(values.null_rows())

    def finish(self) -> tuple[Form, bytes]:
        """Return the form and the body."""
        keys, ranks = self._numbering.ordered()
        head = heading(keys, self._nulls, fixed=self._fixed)
        if len(keys) <= self._by_equality:
            return Form.BITMAP_EQUALITY, head + by_key(self._by_value(len(keys), ranks))
        return Form.BITMAP_SLICED, head + self._sliced(len(keys), ranks)

    def _ranked(self, ranks: Longs) -> Sequence[tuple[Longs, Longs]]:
        """Return the row numbers and the ranks of each chunk."""
        return [
            (
                np.arange(first, first + len(codes)) if rows is None else rows.astype(np.int64),
                ranks[codes],
            )
            for first, rows, codes in self._rows
        ]

    def _by_value(self, count: int, ranks: Longs) -> list[BitMap]:
        bitmaps = [BitMap() for _ in range(count)]
        for rows, ranked in self._ranked(ranks):
            for rank, some in split(ranked, rows):
                bitmaps[rank] |= bitmap_of(some)
        return bitmaps

    def _sliced(self, count: int, ranks: Longs) -> bytes:
        slices = [BitMap() for _ in range((count - 1).bit_length())]
        for rows, ranked in self._ranked(ranks):
            for bit in range(len(slices)):
                slices[bit] |= bitmap_of(rows[(ranked >> bit) & 1 == 1])
        parts = [_ONE.pack(len(slices))]
        for bitmap in slices:
            data = packed(bitmap)
            parts += [_ONE.pack(len(data)), data]
        return b"".join(parts)


def _narrowest(count: int) -> type[np.unsignedinteger]:
    if count <= 1 << 8:
        return np.uint8
    return np.uint16 if count <= 1 << 16 else np.uint32


def split(codes: Longs, rows: Longs) -> list[tuple[int, Longs]]:
    """Return the rows of each code that occurs, by ascending code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    starts = np.concatenate([[0], cuts])[: len(cuts) + bool(len(codes))]
    return list(zip(ordered[starts].tolist(), np.split(rows[order], cuts), strict=False))


def heading(keys: Sequence[Key], nulls: BitMap, *, fixed: bool = False) -> bytes:
    """Return what stands before the bitmaps: the dictionary and the null rows."""
    dictionary, rows = written(keys, fixed=fixed), packed(nulls)
    return b"".join([_TWO.pack(len(keys), len(dictionary)), dictionary, _ONE.pack(len(rows)), rows])


def by_key(bitmaps: Sequence[BitMap]) -> bytes:
    """Return the offsets and the bitmaps of the keys."""
    parts = [packed(bitmap) for bitmap in bitmaps]
    offsets = np.zeros(len(parts) + 1, "<u4")
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return b"".join([offsets.tobytes(), *parts])
