"""Builds one index of one column of one data file, chunk by chunk, in bounded memory.

A builder takes the rows in any chunks and gives a body, or the reason why there is no index: too
many distinct values, or text that is not UTF-8.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optimizer.indexes.domain.bitmaps.building import BitmapBuilder
from optimizer.indexes.domain.bitmaps.pieces import PieceBitmapBuilder
from optimizer.indexes.domain.bloom import MOST_KEYS, BloomBuilder, TooManyKeys
from optimizer.indexes.domain.bloomrf import BloomRFBuilder
from optimizer.indexes.domain.byte_strings import ByteStrings, Longs
from optimizer.indexes.domain.envelope import NO_FLAGS, Expected, Flag, Form, Header, Kind, wrap
from optimizer.indexes.domain.hashing import distinct, hash_strings, hash_words
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
_BYTES_AT_ONCE = 1 << 20
"""Pieces are found in so much text at once: about 50 bytes of memory a byte of text."""


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


@dataclass(frozen=True)
class Refused:
    """There is no index of this column in this data file, and why."""

    reason: str
    detail: str


_NGRAMS = frozenset({Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})


class _NotText(Exception):
    """A value is not UTF-8."""


class _Hashes:
    """A Bloom filter of the values."""

    def __init__(self, wanted: Wanted) -> None:
        self._bloom = BloomBuilder(wanted.bits_a_key, most_keys=wanted.most_keys)

    def add(self, values: Values) -> None:
        self._bloom.add(value_hashes(values.without_nulls()))

    def finish(self) -> tuple[Form, bytes]:
        return Form.BLOOM, self._bloom.finish()


class _Ranges:
    """A range filter of the values' order numbers."""

    def __init__(self, wanted: Wanted) -> None:
        self._filter = BloomRFBuilder(wanted.bits_a_key, most_keys=wanted.most_keys)

    def add(self, values: Values) -> None:
        self._filter.add(order_numbers(values.without_nulls()))

    def finish(self) -> tuple[Form, bytes]:
        return Form.BLOOMRF, self._filter.finish()


class _Pieces:
    """A Bloom filter or a bitmap of words or n-grams."""

    def __init__(self, wanted: Wanted) -> None:
        self._n = wanted.n if wanted.kind in _NGRAMS else 0
        self._bitmap: PieceBitmapBuilder | None = None
        self._bloom: BloomBuilder | None = None
        if wanted.kind in {Kind.WORD_BITMAP, Kind.NGRAM_BITMAP}:
            self._bitmap = PieceBitmapBuilder()
        else:
            self._bloom = BloomBuilder(wanted.bits_a_key, most_keys=wanted.most_keys)
        self.odd = False

    def add(self, values: Values) -> None:
        present = values.without_nulls()
        rows = values.present_rows()
        if self._bitmap is not None and len(rows) < values.count:
            self._bitmap.add_nulls(values.null_rows())
        for start, part in _parts(present.strings or ByteStrings.of(())):
            self._add(part, rows[start : start + len(part)])

    def _add(self, strings: ByteStrings, rows: Longs) -> None:
        found = code_points(strings)
        if found is None:
            raise _NotText
        self.odd = self.odd or has_odd_lower(found[0])
        if self._n:
            grams = ngrams(*found, self._n)
            if self._bitmap is not None:
                self._bitmap.add_ngrams(grams, rows)
            elif self._bloom is not None:
                self._bloom.add(hash_words(distinct(grams.numbers)))
            return
        words = tokens(strings)
        if self._bitmap is not None:
            self._bitmap.add_tokens(words, rows)
        elif self._bloom is not None:
            self._bloom.add(hash_strings(words.words))

    def finish(self) -> tuple[Form, bytes]:
        if self._bitmap is not None:
            return Form.NGRAM_BITMAP if self._n else Form.WORD_BITMAP, self._bitmap.finish()
        body = self._bloom.finish() if self._bloom is not None else b""
        return Form.NGRAM_BLOOM if self._n else Form.WORD_BLOOM, body


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
    if wanted.kind in TEXT_KINDS:
        return _Pieces(wanted)
    if wanted.kind == Kind.BITMAP:
        return BitmapBuilder(kind)
    return _Ranges(wanted) if wanted.kind == Kind.BLOOMRF else _Hashes(wanted)


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
            self._refused = Refused("not_utf8", "a value is not UTF-8")

    def finish(self) -> Built | Refused:
        """Return the index, or why there is none."""
        if self._refused:
            return self._refused
        try:
            form, body = self._part.finish()
        except TooManyKeys as error:
            return Refused("too_many", str(error))
        if self._wanted.kind not in TEXT_KINDS:
            return Built(form, body, self._flags)
        odd = Flag.ODD_LOWER if getattr(self._part, "odd", False) else NO_FLAGS
        n = self._wanted.n if self._wanted.kind in _NGRAMS else 0
        return Built(form, body, self._flags | Flag.FOLDED | odd, n)


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
