"""Answers one condition on one column from one index of it: which rows may be true, which false."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from pyroaring import BitMap

from optimizer.indexes.domain.bitmaps.dictionary import Key, decimal_key
from optimizer.indexes.domain.bitmaps.reading import RowBitmaps
from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.bloomrf import BloomRF
from optimizer.indexes.domain.byte_strings import Words
from optimizer.indexes.domain.envelope import Flag, Form, Header
from optimizer.indexes.domain.hashing import hash_bytes, hash_words
from optimizer.indexes.domain.like_patterns import TextMatch, equal_to
from optimizer.indexes.domain.literals import (
    Asked,
    Point,
    Range,
    asked_point,
    asked_range,
    order_number,
    value_bytes,
)
from optimizer.indexes.domain.predicates import Comparison, In, IsNan, IsNull, Leaf, Matches
from optimizer.indexes.domain.values import NAN_BITS, TOP, ColumnType, ValueClass

Body: TypeAlias = Bloom | BloomRF | RowBitmaps
_NAN_ORDER = NAN_BITS | TOP
_TOP_ORDER = (1 << 64) - 1
_BY_BYTES = frozenset({ValueClass.STRING, ValueClass.UUID, ValueClass.BINARY})


@dataclass(frozen=True)
class Opened:
    """An index that was read and answers for its column."""

    header: Header
    body: Body
    type: ColumnType


@dataclass(frozen=True)
class Answer:
    """The rows of which a condition may be true, and those of which it may be false."""

    true: BitMap
    false: BitMap


def all_rows(rows: int) -> BitMap:
    """Return the bitmap of every row."""
    whole = BitMap()
    whole.add_range(0, rows)
    return whole


def answer(leaf: Leaf, index: Opened) -> Answer | None:
    """Return what the index says of the condition; None where it says nothing."""
    if isinstance(index.body, RowBitmaps):
        if index.header.form in {Form.WORD_BITMAP, Form.NGRAM_BITMAP}:
            return _by_piece_rows(leaf, index.header, index.body)
        return _by_rows(leaf, index, index.body)
    possible = _possible(leaf, index)
    if possible is None or possible:
        return None
    return Answer(BitMap(), all_rows(index.header.rows))


def _possible(leaf: Leaf, index: Opened) -> bool | None:
    """Tell whether the condition may be true of any row, by a filter; None: cannot be said."""
    if isinstance(leaf, IsNull):
        return bool(index.header.flags & Flag.NULLS)
    if isinstance(leaf, IsNan):
        floats = index.header.value_class == ValueClass.FLOAT
        return bool(index.header.flags & Flag.NAN) if floats else None
    if isinstance(index.body, BloomRF):
        return _by_ranges(leaf, index.type, index.body)
    if not isinstance(index.body, Bloom):
        return None
    if index.header.form != Form.BLOOM:
        return _by_piece_filter(leaf, index.header, index.body)
    return _by_filter(leaf, index.type, index.body)


def _asked(leaf: Leaf, kind: ColumnType) -> list[Asked] | None:
    if isinstance(leaf, In):
        each = [asked_point(kind, value) for value in leaf.values]
    elif isinstance(leaf, Comparison):
        each = [asked_range(kind, leaf.operator, leaf.value)]
    else:
        return None
    return None if None in each else [one for one in each if one is not None]


def _by_filter(leaf: Leaf, kind: ColumnType, bloom: Bloom) -> bool | None:
    asked = _asked(leaf, kind)
    if asked is None or any(one.range for one in asked):
        return None
    raw = (value_bytes(kind, point) for one in asked for point in one.points)
    hashes = [hash_bytes(one) for one in raw if one is not None]
    return bool(bloom.might_hold(np.array(hashes, np.uint64)).any())


def _by_ranges(leaf: Leaf, kind: ColumnType, known: BloomRF) -> bool | None:
    asked = _asked(leaf, kind)
    if asked is None:
        return None
    points = [order_number(kind, point) for one in asked for point in one.points]
    if known.might_hold(np.array(points, np.uint64)).any():
        return True
    ranges = (one.range for one in asked if one.range)
    return any(known.might_hold_between(*_order_range(kind, one)) for one in ranges)


def _order_range(kind: ColumnType, asked: Range) -> tuple[int, int]:
    first = 0 if asked.first is None else order_number(kind, asked.first)
    last = _TOP_ORDER if asked.last is None else order_number(kind, asked.last)
    if kind.value_class in _BY_BYTES:
        return first, last  # Only the first 8 bytes are in order.
    return first + (not asked.with_first), last - (not asked.with_last)


def _by_rows(leaf: Leaf, index: Opened, rows: RowBitmaps) -> Answer | None:
    present = rows.present()
    floats = index.type.value_class == ValueClass.FLOAT
    nan = rows.equal(_NAN_ORDER) if floats else BitMap()
    if isinstance(leaf, IsNull):
        return Answer(rows.nulls, present)
    if isinstance(leaf, IsNan):
        # `isnan` of a null is false in Spark, and null in Trino.
        return Answer(nan, all_rows(rows.rows) - nan) if floats else None
    asked = _asked(leaf, index.type)
    if asked is None:
        return None
    found = _rows_of(asked, index.type, rows)
    if found is None:
        return None
    exact = all(one.exact for one in asked)
    # Engines differ on whether NaN is above all or in no relation at all.
    return Answer(found, (present - found) | nan if exact else present)


def _rows_of(asked: Iterable[Asked], kind: ColumnType, rows: RowBitmaps) -> BitMap | None:
    keys: list[Key] = []
    found = BitMap()
    for one in asked:
        keys += [key for point in one.points if (key := _key(kind, point)) is not None]
        if one.range is not None:
            found |= _rows_between(one.range, kind, rows)
    by_key = rows.any_of(keys)
    return None if by_key is None else found | by_key


def _rows_between(asked: Range, kind: ColumnType, rows: RowBitmaps) -> BitMap:
    first = None if asked.first is None else _key(kind, asked.first)
    last = None if asked.last is None else _key(kind, asked.last)
    if first is None and isinstance(asked.first, int) and asked.first > 0:
        return BitMap()
    if last is None and isinstance(asked.last, int) and asked.last < 0:
        return BitMap()
    return rows.between(first, last, with_first=asked.with_first, with_last=asked.with_last)


def _key(kind: ColumnType, point: Point) -> Key | None:
    """Return the key of a point in a dictionary; None of a number that no value can be."""
    if isinstance(point, bytes):
        return point
    if kind.value_class == ValueClass.BOOLEAN:
        return int(point) if point in {0, 1} else None
    raw = value_bytes(kind, point)
    if kind.value_class == ValueClass.DECIMAL:
        return decimal_key(raw) if raw is not None and len(raw) <= 16 else None
    return None if raw is None else order_number(kind, point)


def _matches(leaf: Leaf) -> list[TextMatch] | None:
    """Return the texts that are asked for, of which one must match."""
    if isinstance(leaf, Matches):
        return [leaf.match]
    values = leaf.values if isinstance(leaf, In) else ()
    if isinstance(leaf, Comparison) and leaf.operator == "=":
        values = (leaf.value,)
    elif not isinstance(leaf, In):
        return None
    if not all(isinstance(value, str) for value in values):
        return None
    return [equal_to(value) for value in values if isinstance(value, str)]


def _pieces(match: TextMatch, header: Header) -> list[int] | list[bytes]:
    if match.lowered and header.flags & Flag.ODD_LOWER:
        return []
    if header.form in {Form.NGRAM_BITMAP, Form.NGRAM_BLOOM}:
        return match.ngrams(header.n)
    return match.tokens()


def _by_piece_filter(leaf: Leaf, header: Header, bloom: Bloom) -> bool | None:
    matches = _matches(leaf)
    if matches is None:
        return None
    return any(bool(bloom.might_hold(_hashes(_pieces(one, header))).all()) for one in matches)


def _hashes(pieces: list[int] | list[bytes]) -> Words:
    if pieces and isinstance(pieces[0], int):
        return hash_words(np.array(pieces, np.uint64))
    hashed = [hash_bytes(one) for one in pieces if isinstance(one, bytes)]
    return np.array(hashed, np.uint64)


def _by_piece_rows(leaf: Leaf, header: Header, rows: RowBitmaps) -> Answer | None:
    present = rows.present()
    if isinstance(leaf, IsNull):
        return Answer(rows.nulls, present)
    matches = _matches(leaf)
    if matches is None:
        return None
    found = BitMap()
    for match in matches:
        left = present
        for piece in _pieces(match, header):
            left = left & rows.equal(piece)
            if not left:
                break
        found |= left
    return Answer(found, present)
