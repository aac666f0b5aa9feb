"""Answers from a bitmap that was read: the rows of a value, of a range, of a piece, of nulls.

Only the bitmaps that a question needs are unpacked.
"""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from pyroaring import BitMap

from optimizer.indexes.domain.bitmaps.dictionary import Key, read
from optimizer.indexes.domain.bitmaps.rows import unpacked
from optimizer.indexes.domain.envelope import Form, Header
from optimizer.indexes.domain.values import NUMBERS, ValueClass

_MOST_BY_SLICES = 200
_U32 = struct.Struct("<I")


class _Cursor:
    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def number(self) -> int:
        return int(_U32.unpack(self.take(4))[0])

    def take(self, length: int) -> bytes:
        part = self._body[self._at : self._at + length]
        if len(part) != length:
            raise ValueError("the body is cut")
        self._at += length
        return part

    def rest(self) -> bytes:
        return self._body[self._at :]


@dataclass(frozen=True)
class RowBitmaps:
    """The bitmaps of one blob."""

    rows: int
    keys: Sequence[Key]
    nulls: BitMap
    by_key: Sequence[bytes]
    """By equality: each key's bitmap, packed."""
    slices: Sequence[bytes] | None
    """By rank: each bit's bitmap, packed."""

    @classmethod
    def read(cls, header: Header, body: bytes) -> "RowBitmaps":
        """Return the bitmaps of this body.

        Raises:
            ValueError: When the body does not hold what it says.
        """
        cursor = _Cursor(body)
        count = cursor.number()
        by_number = header.form == Form.NGRAM_BITMAP or header.value_class in NUMBERS
        decimals = header.value_class == ValueClass.DECIMAL
        dictionary = cursor.take(cursor.number())
        keys = read(dictionary, count, numbers=by_number, fixed=decimals)
        nulls = unpacked(cursor.take(cursor.number()), header.rows)
        if header.form == Form.BITMAP_SLICED:
            slices = [cursor.take(cursor.number()) for _ in range(cursor.number())]
            return cls(header.rows, keys, nulls, (), slices)
        offsets = np.frombuffer(cursor.take(4 * (count + 1)), "<u4").tolist()
        packed = cursor.rest()
        if offsets != sorted(offsets) or offsets[0] or offsets[-1] != len(packed):
            raise ValueError("offsets and length disagree")
        bounds = pairwise(offsets)
        return cls(header.rows, keys, nulls, [packed[a:b] for a, b in bounds], None)

    def present(self) -> BitMap:
        """Return the rows that are not null."""
        whole = BitMap()
        whole.add_range(0, self.rows)
        return whole - self.nulls

    def equal(self, key: Key) -> BitMap:
        """Return the rows of this key."""
        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            return BitMap()
        return self._ranks(at, at + 1)

    def any_of(self, keys: Iterable[Key]) -> BitMap | None:
        """Return the rows of these keys; None where that would be too much work."""
        places = sorted(
            at
            for at, key in ((bisect_left(self.keys, key), key) for key in set(keys))
            if at < len(self.keys) and self.keys[at] == key
        )
        if self.slices is not None and len(places) > _MOST_BY_SLICES:
            return None
        return BitMap.union(*(self._ranks(at, at + 1) for at in places), BitMap())

    def between(
        self,
        first: Key | None,
        last: Key | None,
        *,
        with_first: bool = True,
        with_last: bool = True,
    ) -> BitMap:
        """Return the rows of the keys in this range; None: no bound on this side."""
        left = bisect_left if with_first else bisect_right
        right = bisect_right if with_last else bisect_left
        start = 0 if first is None else left(self.keys, first)
        end = len(self.keys) if last is None else right(self.keys, last)
        return self._ranks(start, end)

    def _ranks(self, start: int, end: int) -> BitMap:
        if start >= end:
            return BitMap()
        if self.slices is None:
            return BitMap.union(*(self._bitmap(at) for at in range(start, end)), BitMap())
        below = self._at_most(end - 1)
        return below if start == 0 else below - self._at_most(start - 1)

    def _bitmap(self, at: int) -> BitMap:
        return unpacked(self.by_key[at], self.rows)

    @cached_property
    def _slices(self) -> Sequence[BitMap]:
        return [unpacked(one, self.rows) for one in self.slices or ()]

    def _at_most(self, rank: int) -> BitMap:
        slices = self._slices
        less, same = BitMap(), self.present()
        for bit in reversed(range(len(slices))):
            if rank >> bit & 1:
                less |= same - slices[bit]
                same &= slices[bit]
            else:
                same -= slices[bit]
        return less | same
