"""Builds one index of one column of one data file, chunk by chunk, in bounded memory.

A builder takes the rows in any chunks and gives a body, or the reason why there is no index: too
many distinct values, or text that is not UTF-8.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from optimizer.indexes.domain.bitmaps.building import BitmapBuilder
from optimizer.indexes.domain.bitmaps.pieces import PieceBitmapBuilder
from optimizer.indexes.domain.bloom import MOST_KEYS, DistinctHashes, TooManyKeys, filter_of
from optimizer.indexes.domain.bloomrf import range_filter_of
from optimizer.indexes.domain.building.ascii_ngrams import AsciiNgrams, is_ascii
from optimizer.indexes.domain.building.false_positives import measured
from optimizer.indexes.domain.byte_strings import ByteStrings, Longs, Words
from optimizer.indexes.domain.envelope import NO_FLAGS, Expected, Flag, Form, Header, Kind, wrap
from optimizer.indexes.domain.hashing import distinct, hash_words
from optimizer.indexes.domain.pieces import code_points, has_odd_lower, ngrams, tokens
from optimizer.indexes.domain.values import (
    NAN_BITS,
    ColumnType,
    ValueClass,
    Values,
    order_numbers,
    value_hashes,
)

TEXT_KINDS = frozenset({Kind.WORD_BLOOM, Kind.WORD_BITMAP, Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})
NOT_TEXT = "a value is not UTF-8"
_BYTES_AT_ONCE = 1 << 20
"""Pieces are found in so much text at once: about 50 bytes of memory a byte of text."""
Points: TypeAlias = tuple[Words, Longs]
"""Code points, and the offsets of each string in them."""


@dataclass(frozen=True)
class Wanted:
    """The index that is to be built of a column, with its parameters."""

    kind: Kind
    bits_a_key: float = 10
    n: int = 3
    most_keys: int = MOST_KEYS


@dataclass(frozen=True)
class Built:
    """A body, with what its header says beside."""

    form: Form
    body: bytes
    flags: Flag
    n: int = 0
    false_positives: float | None = None
    """The share of absent keys that it lets through, as measured; None: not known."""


@dataclass(frozen=True)
class Refused:
    """There is no index of this column in this data file, and why."""

    reason: str
    detail: str


_NGRAMS = frozenset({Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})


class _NotText(Exception):
    """A value is not UTF-8."""


class _Filter:
    """A filter of the distinct 64-bit numbers that values become: hashes, or order numbers."""

    false_positives: float | None = None

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._keys = DistinctHashes(wanted.most_keys)

    def add(self, values: Values) -> None:
        present = values.without_nulls()
        is_ranged = self._wanted.kind == Kind.BLOOMRF
        self._keys.add(order_numbers(present) if is_ranged else value_hashes(present))

    def finish(self) -> tuple[Form, bytes]:
        keys, bits = self._keys.all(), self._wanted.bits_a_key
        is_ranged = self._wanted.kind == Kind.BLOOMRF
        form = Form.BLOOMRF if is_ranged else Form.BLOOM
        body = range_filter_of(keys, bits) if is_ranged else filter_of(keys, bits)
        self.false_positives = measured(form, body, keys)
        return form, body


class _Pieces(ABC):
    """A filter or a bitmap of words or n-grams, found in a part of the text at a time."""

    odd = False

    def add(self, values: Values) -> None:
        present = values.without_nulls()
        rows = values.present_rows()
        if len(rows) < values.count:
            self._add_nulls(values.null_rows())
        for start, part in _parts(present.strings or ByteStrings.of(())):
            points = None
            if not is_ascii(part):
                points = code_points(part)
                if points is None:
                    raise _NotText
                self.odd = self.odd or has_odd_lower(points[0])
            self._add(part, points, rows[start : start + len(part)])

    def _add_nulls(self, rows: Longs) -> None:
        """Take in rows without a value; a filter holds none of them."""
        del rows

    @abstractmethod
    def _add(self, strings: ByteStrings, points: Points | None, rows: Longs) -> None:
        """Take in strings; of those that are all ASCII there are no code points."""

    @abstractmethod
    def finish(self) -> tuple[Form, bytes]:
        """Return the form and the body."""


class _PieceFilter(_Pieces):
    """A Bloom filter of the pieces."""

    false_positives: float | None = None

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._keys = DistinctHashes(wanted.most_keys)
        self._ascii = AsciiNgrams(wanted.n) if wanted.kind in _NGRAMS else None

    def _add(self, strings: ByteStrings, points: Points | None, rows: Longs) -> None:
        if self._ascii is None:
            self._keys.add(tokens(strings).hashes())
        elif points is None:
            self._ascii.add(strings)
        else:
            grams = ngrams(*points, self._wanted.n)
            self._keys.add(hash_words(distinct(grams.numbers)))

    def finish(self) -> tuple[Form, bytes]:
        if self._ascii is not None:
            self._keys.add(hash_words(self._ascii.numbers()))
        form = Form.WORD_BLOOM if self._ascii is None else Form.NGRAM_BLOOM
        keys = self._keys.all()
        body = filter_of(keys, self._wanted.bits_a_key)
        self.false_positives = measured(form, body, keys)
        return form, body


class _PieceRows(_Pieces):
    """A bitmap of rows by piece."""

    def __init__(self, wanted: Wanted) -> None:
        self._n = wanted.n if wanted.kind in _NGRAMS else 0
        self._bitmap = PieceBitmapBuilder(self._n)

    def _add_nulls(self, rows: Longs) -> None:
        self._bitmap.add_nulls(rows)

    def _add(self, strings: ByteStrings, points: Points | None, rows: Longs) -> None:
        if not self._n:
            self._bitmap.add_tokens(tokens(strings), rows)
        elif points is None:
            self._bitmap.add_ascii(strings, rows)
        else:
            self._bitmap.add_ngrams(ngrams(*points, self._n), rows)

    def finish(self) -> tuple[Form, bytes]:
        return Form.NGRAM_BITMAP if self._n else Form.WORD_BITMAP, self._bitmap.finish()


def _parts(strings: ByteStrings) -> Iterator[tuple[int, ByteStrings]]:
    """Yield the strings in parts of about a megabyte, with the place of the first of each."""
    start = 0
    while start < len(strings):
        limit = strings.offsets[start] + _BYTES_AT_ONCE
        end = max(int(np.searchsorted(strings.offsets, limit, side="right")) - 1, start + 1)
        yield start, ByteStrings(strings.offsets[start : end + 1], strings.data)
        start = end


def unfit(kind: ColumnType, wanted: Kind) -> Refused | None:
    """Return why a column of this type can have no index of this kind, if it cannot."""
    if wanted in TEXT_KINDS and kind.value_class != ValueClass.STRING:
        return Refused("type", "words and n-grams are of strings alone")
    if wanted == Kind.BLOOM and kind.value_class == ValueClass.BOOLEAN:
        return Refused("type", "a boolean has two values: a filter says nothing")
    if wanted == Kind.BLOOMRF:
        if kind.value_class in {ValueClass.BOOLEAN, ValueClass.UUID}:
            return Refused("type", "ranges of this type are not asked for")
        if not kind.has_order:
            return Refused("type", "a decimal of more than 18 digits has no order number")
    return None


class _Part(Protocol):
    """What an index is made by."""

    def add(self, values: Values) -> None: ...

    def finish(self) -> tuple[Form, bytes]: ...


def _part(kind: ColumnType, wanted: Wanted) -> _Part:
    if wanted.kind in {Kind.WORD_BITMAP, Kind.NGRAM_BITMAP}:
        return _PieceRows(wanted)
    if wanted.kind in TEXT_KINDS:
        return _PieceFilter(wanted)
    return BitmapBuilder(kind) if wanted.kind == Kind.BITMAP else _Filter(wanted)


class IndexBuilder:
    """Builds one index; after a refusal further rows cost nothing."""

    def __init__(self, kind: ColumnType, wanted: Wanted) -> None:
        self._type, self._wanted = kind, wanted
        self._flags = NO_FLAGS
        self._refused = unfit(kind, wanted.kind)
        self._part: _Part = _part(kind, wanted)

    def add(self, values: Values) -> None:
        """Take in some rows, nulls too; their row numbers begin at `values.first_row`."""
        if self._refused:
            return
        present = values.without_nulls()
        if present.count < values.count:
            self._flags |= Flag.NULLS
        if _has_nan(present):
            self._flags |= Flag.NAN
        try:
            self._part.add(values)
        except TooManyKeys as error:
            self._refused = Refused("too_many", str(error))
        except _NotText:
            self._refused = Refused("not_utf8", NOT_TEXT)

    def finish(self) -> Built | Refused:
        """Return the index, or why there is none."""
        if self._refused:
            return self._refused
        try:
            form, body = self._part.finish()
        except TooManyKeys as error:
            return Refused("too_many", str(error))
        # A bitmap knows its keys themselves.
        passed = getattr(self._part, "false_positives", 0.0)
        if self._wanted.kind not in TEXT_KINDS:
            return Built(form, body, self._flags, false_positives=passed)
        odd = Flag.ODD_LOWER if getattr(self._part, "odd", False) else NO_FLAGS
        n = self._wanted.n if self._wanted.kind in _NGRAMS else 0
        return Built(form, body, self._flags | Flag.FOLDED | odd, n, passed)


def _has_nan(values: Values) -> bool:
    if values.type.value_class != ValueClass.FLOAT or values.bits is None:
        return False
    return bool((values.bits == np.uint64(NAN_BITS)).any())


def blob_of(built: Built, of: Expected) -> bytes:
    """Return the blob of an index, for this column of this data file."""
    header = Header(
        built.form,
        of.type.value_class,
        of.field_id,
        of.rows,
        of.location_hash,
        of.table_uuid,
        built.flags,
        of.type.scale,
        built.n,
    )
    return wrap(header, built.body)
