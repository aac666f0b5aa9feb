"""Bitmaps give exactly the rows of a value, a range or a piece, in either form."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.indexes.domain.bitmaps.building import BitmapBuilder
from optimizer.indexes.domain.bitmaps.dictionary import distinct_strings
from optimizer.indexes.domain.bitmaps.pieces import PieceBitmapBuilder
from optimizer.indexes.domain.bitmaps.reading import RowBitmaps
from optimizer.indexes.domain.bloom import TooManyKeys
from optimizer.indexes.domain.building.ascii_ngrams import AsciiNgrams
from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.envelope import Form, Header
from optimizer.indexes.domain.hashing import distinct
from optimizer.indexes.domain.pieces import code_points, ngrams, tokens
from optimizer.indexes.domain.values import ColumnType, ValueClass
from tests.support.golden_indexes import TABLE
from tests.support.index_values import values_of

LONG = ColumnType(ValueClass.INTEGER)
TEXT = ColumnType(ValueClass.STRING)
TOP = 2**63
EQUALITY, SLICED = 1 << 30, -1


def built(
    kind: ColumnType, chunks: Sequence[Sequence[int | str | None]], by_equality: int
) -> RowBitmaps:
    builder = BitmapBuilder(kind, by_equality=by_equality)
    first = 0
    for chunk in chunks:
        builder.add(values_of(kind, chunk, first))
        first += len(chunk)
    form, body = builder.finish()
    return RowBitmaps.read(Header(form, kind.value_class, 1, first, 0, TABLE), body)


numbers = st.lists(st.lists(st.integers(-5, 20) | st.none()), max_size=4)


@given(numbers, st.sampled_from([EQUALITY, SLICED]), st.integers(-7, 22), st.integers(-7, 22))
def test_numbers_have_their_rows(
    chunks: list[list[int | None]], form: int, one: int, other: int
) -> None:
    rows = [value for chunk in chunks for value in chunk]
    read = built(LONG, chunks, form)
    assert list(read.equal(one + TOP)) == [at for at, value in enumerate(rows) if value == one]
    assert list(read.nulls) == [at for at, value in enumerate(rows) if value is None]
    for with_first in (True, False):
        for with_last in (True, False):
            found = read.between(one + TOP, other + TOP, with_first=with_first, with_last=with_last)
            low, high = one + (not with_first), other - (not with_last)
            wanted = [
                at for at, value in enumerate(rows) if value is not None and low <= value <= high
            ]
            assert list(found) == wanted
    assert list(read.between(None, None)) == [
        at for at, value in enumerate(rows) if value is not None
    ]


@given(
    st.lists(st.text(max_size=3) | st.none()),
    st.sampled_from([EQUALITY, SLICED]),
    st.text(max_size=3),
)
def test_strings_have_their_rows(rows: list[str | None], form: int, bound: str) -> None:
    read = built(TEXT, [rows], form)
    raw = [None if one is None else one.encode() for one in rows]
    assert list(read.equal(bound.encode())) == [
        at for at, one in enumerate(raw) if one == bound.encode()
    ]
    below = [at for at, one in enumerate(raw) if one is not None and one < bound.encode()]
    assert list(read.between(None, bound.encode(), with_last=False)) == below


def test_few_values_go_by_equality_and_many_by_slices() -> None:
    assert built(LONG, [list(range(100))], 100).slices is None
    assert built(LONG, [list(range(101))], 100).slices is not None


def test_bytes_a_row_are_those_of_the_figures() -> None:
    # (c6): 60,000 rows in random order; the figures leave out the dictionary.
    random = np.random.default_rng(1)
    for count, most in ((10, 1.4), (1_000, 1.4), (10_000, 1.95)):
        builder = BitmapBuilder(LONG)
        builder.add(values_of(LONG, random.integers(0, count, 60_000).tolist()))
        assert (len(builder.finish()[1]) - 8 * count) / 60_000 <= most
    builder = BitmapBuilder(LONG)
    builder.add(values_of(LONG, sorted(random.integers(0, 10, 60_000).tolist())))
    assert len(builder.finish()[1]) / 60_000 <= 0.005


def test_more_values_than_a_bitmap_holds_are_refused() -> None:
    builder = BitmapBuilder(TEXT, most_values=10)
    with pytest.raises(TooManyKeys, match="10 distinct"):
        builder.add(values_of(TEXT, [str(one) for one in range(11)]))
    longer = BitmapBuilder(TEXT, most_bytes=100)
    with pytest.raises(TooManyKeys, match="100 bytes"):
        longer.add(values_of(TEXT, ["x" * 1_000_000]))


def test_strings_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "optimizer.indexes.domain.bitmaps.dictionary.hash_strings"
    monkeypatch.setattr(name, lambda strings: np.zeros(len(strings), np.uint64))
    strings, places = distinct_strings(ByteStrings.of([b"a", b"b", b"a"]))
    assert [strings[at] for at in places] == [b"a", b"b", b"a"]


lines = st.lists(st.text(alphabet="abA1 -_é", max_size=8), max_size=20)


@given(lines, st.integers(1, 3))
def test_pieces_have_their_rows(texts: list[str], n: int) -> None:
    strings = ByteStrings.of(one.encode() for one in texts)
    points = code_points(strings)
    assert points is not None
    rows = np.arange(len(texts)) * 3
    builder, words = PieceBitmapBuilder(), PieceBitmapBuilder()
    builder.add_ngrams(ngrams(*points, n), rows)
    words.add_tokens(tokens(strings), rows)
    size = 3 * len(texts) + 1
    head = Header(Form.NGRAM_BITMAP, ValueClass.STRING, 1, size, 0, TABLE, n=n)
    read = RowBitmaps.read(head, builder.finish())
    head = Header(Form.WORD_BITMAP, ValueClass.STRING, 1, size, 0, TABLE)
    read_words = RowBitmaps.read(head, words.finish())
    for at, text in enumerate(texts):
        for number in ngrams(*code_points(ByteStrings.of([text.encode()])) or points, n).numbers:
            assert 3 * at in read.equal(int(number))
        for word in tokens(ByteStrings.of([text.encode()])).words:
            assert 3 * at in read_words.equal(word)
    assert read_words.keys == sorted(set(tokens(strings).words))
    assert list(read.equal(2**63 - 1)) == []


def test_more_pairs_than_memory_should_hold_are_refused() -> None:
    builder = PieceBitmapBuilder(most_pairs=5)
    strings = ByteStrings.of([b"a b c", b"d e f"])
    builder.add_tokens(tokens(strings), np.arange(2))
    with pytest.raises(TooManyKeys, match="5 pairs"):
        builder.finish()


@given(st.lists(st.text(st.characters(max_codepoint=127)), max_size=30), st.integers(1, 3))
def test_ascii_has_the_same_pieces_by_a_shorter_way(texts: list[str], n: int) -> None:
    strings = ByteStrings.of(one.encode() for one in texts)
    points = code_points(strings)
    assert points is not None
    found = AsciiNgrams(n)
    found.add(strings)
    assert found.numbers().tolist() == distinct(ngrams(*points, n).numbers).tolist()
    rows = np.arange(len(texts)) * 3
    short, plain = PieceBitmapBuilder(n), PieceBitmapBuilder(n)
    for _ in range(2):
        short.add_ascii(strings, rows)
        plain.add_ngrams(ngrams(*points, n), rows)
    assert short.finish() == plain.finish()


FUZZ = """
import random, sys
from optimizer.indexes.domain.bitmaps.building import BitmapBuilder
from optimizer.indexes.domain.bitmaps.reading import RowBitmaps
from optimizer.indexes.domain.envelope import Header
from tests.unit.optimizer.indexes.test_bitmaps import LONG, TABLE, TOP, values_of
chance = random.Random(7)
for by_equality in (1 << 30, -1):
    builder = BitmapBuilder(LONG, by_equality=by_equality)
    builder.add(values_of(LONG, [chance.randrange(30) for _ in range(300)]))
    form, body = builder.finish()
    head = Header(form, LONG.value_class, 1, 300, 0, TABLE)
    for turn in range(3000):
        changed = bytearray(body)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(body))] = chance.randrange(256)
        if turn % 3 == 0:
            del changed[chance.randrange(len(body)):]
        try:
            read = RowBitmaps.read(head, bytes(changed))
            read.equal(TOP + 3)
            read.between(TOP + 2, TOP + 20)
        except ValueError:
            pass
print("whole")
"""


def test_a_damaged_body_yields_an_error_and_never_a_crash() -> None:
    ran = subprocess.run([sys.executable, "-c", FUZZ], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "whole\n"), ran.stderr[-2000:]
