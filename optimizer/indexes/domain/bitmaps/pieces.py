"""Builds bitmaps of rows by word or n-gram, from pairs of piece and row.

Pairs are gathered as one number each and turned into bitmaps now and then, so that a piece which
many rows hold costs no more than its bitmap.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from pyroaring import BitMap

from optimizer.indexes.domain.bitmaps.building import by_key, heading
from optimizer.indexes.domain.bitmaps.dictionary import Key, Numbering, distinct_strings
from optimizer.indexes.domain.bitmaps.rows import bitmap_of
from optimizer.indexes.domain.bloom import TooManyKeys
from optimizer.indexes.domain.byte_strings import Longs, Words
from optimizer.indexes.domain.hashing import distinct
from optimizer.indexes.domain.pieces import Ngrams, Tokens

MOST_PIECES = 1 << 20
MOST_PIECE_BYTES = 32 << 20
MOST_PAIRS = 1 << 26
_WAITING = 1 << 22
_ROW = np.uint64(32)
_ROW_BITS = np.uint64((1 << 32) - 1)


class PieceBitmapBuilder:
    """Builds the body of a bitmap by piece."""

    def __init__(self, *, most_pieces: int = MOST_PIECES, most_pairs: int = MOST_PAIRS) -> None:
        self._numbering = Numbering(most_pieces, MOST_PIECE_BYTES)
        self._most_pairs = most_pairs
        self._pairs = 0
        self._waiting: list[Words] = []
        self._count = 0
        self._bitmaps: dict[int, BitMap] = {}
        self._nulls = BitMap()

    def add_tokens(self, found: Tokens, rows: Longs) -> None:
        """Take in words; `rows` are the row numbers of the strings that own them.

        Raises:
            TooManyKeys: When there are more words, or more pairs of word and row, than the limit.
        """
        words, places = distinct_strings(found.words)
        self._add(words, places, rows[found.owners])

    def add_ngrams(self, found: Ngrams, rows: Longs) -> None:
        """Take in n-grams; otherwise as `add_tokens`."""
        numbers = distinct(found.numbers)
        places = np.searchsorted(numbers, found.numbers)
        self._add(numbers.tolist(), places, rows[found.owners])

    def add_nulls(self, rows: Longs) -> None:
        """Take in the row numbers of nulls."""
        self._nulls |= bitmap_of(rows)

    def _add(self, keys: Sequence[Key], places: Longs, rows: Longs) -> None:
        numbers = self._numbering.of(keys)[places].astype(np.uint64)
        pairs = distinct((numbers << _ROW) | rows.astype(np.uint64))
        self._pairs += len(pairs)
        if self._pairs > self._most_pairs:
            raise TooManyKeys(f"more than {self._most_pairs:,} pairs of piece and row")
        self._waiting.append(pairs)
        self._count += len(pairs)
        if self._count > _WAITING:
            self._settle()

    def _settle(self) -> None:
        if not self._waiting:
            return
        pairs = np.sort(np.concatenate(self._waiting))
        self._waiting, self._count = [], 0
        numbers, rows = (pairs >> _ROW).astype(np.int64), (pairs & _ROW_BITS).astype(np.uint32)
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(rows)]
        for start, end in pairwise(cuts if len(rows) else ()):
            more, number = bitmap_of(rows[start:end]), int(numbers[start])
            known = self._bitmaps.get(number)
            self._bitmaps[number] = more if known is None else known | more

    def finish(self) -> bytes:
        """Return the body."""
        self._settle()
        keys, ranks = self._numbering.ordered()
        bitmaps: list[BitMap] = [BitMap()] * len(keys)
        for number, bitmap in self._bitmaps.items():
            bitmaps[ranks[number]] = bitmap
        return heading(keys, self._nulls) + by_key(bitmaps)
