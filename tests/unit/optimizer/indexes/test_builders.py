"""A builder gives the same body for any chunks, and a reason where there is no index."""

import math
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from optimizer.indexes.domain.builders import Built, IndexBuilder, Refused, Wanted, blob_of
from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.envelope import Expected, Flag, Form, Kind, refusal, unwrap
from optimizer.indexes.domain.values import ColumnType, ValueClass, column_type, string_values
from tests.support.golden_indexes import TABLE
from tests.support.index_values import Plain, values_of

TEXT = ColumnType(ValueClass.STRING)
LONG = ColumnType(ValueClass.INTEGER)
DOUBLE = ColumnType(ValueClass.FLOAT)


def built(
    kind: ColumnType, wanted: Wanted, chunks: Sequence[Sequence[Plain | None]]
) -> Built | Refused:
    builder = IndexBuilder(kind, wanted)
    first = 0
    for chunk in chunks:
        builder.add(values_of(kind, chunk, first))
        first += len(chunk)
    return builder.finish()


@example(rows=[None, "", None, None, None, None], cut=1, kind=Kind.BITMAP)
@given(st.lists(st.text(max_size=6) | st.none()), st.integers(0, 50), st.sampled_from(Kind))
def test_chunks_do_not_matter(rows: list[str | None], cut: int, kind: Kind) -> None:
    whole = built(TEXT, Wanted(kind), [rows])
    assert isinstance(whole, Built)
    assert whole == built(TEXT, Wanted(kind), [rows[:cut], rows[cut:]])
    assert bool(whole.flags & Flag.NULLS) is (None in rows)


def test_flags_say_what_the_column_holds() -> None:
    found = built(DOUBLE, Wanted(Kind.BLOOMRF), [[1.0], [math.nan, None]])
    assert isinstance(found, Built)
    assert found.flags == Flag.NULLS | Flag.NAN
    found = built(TEXT, Wanted(Kind.NGRAM_BITMAP, n=2), [["5 \u212a"]])
    assert isinstance(found, Built)
    assert (found.flags, found.n, found.form) == (
        Flag.FOLDED | Flag.ODD_LOWER,
        2,
        Form.NGRAM_BITMAP,
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("long", Kind.WORD_BLOOM),
        ("binary", Kind.NGRAM_BITMAP),
        ("boolean", Kind.BLOOM),
        ("decimal(19,2)", Kind.BLOOMRF),
        ("uuid", Kind.BLOOMRF),
    ],
)
def test_a_kind_that_does_not_fit_the_type_is_refused(name: str, kind: Kind) -> None:
    of = column_type(name)
    assert of is not None
    found = IndexBuilder(of, Wanted(kind)).finish()
    assert isinstance(found, Refused)
    assert found.reason == "type"


def test_ten_million_distinct_strings_are_refused_in_bounded_memory() -> None:
    builder = IndexBuilder(TEXT, Wanted(Kind.BLOOM, most_keys=200_000))
    tracemalloc.start()
    for chunk in range(40):
        numbers = np.arange(chunk * 50_000, chunk * 50_000 + 50_000).astype(">u8")
        raw = ByteStrings.fixed(8, numbers.tobytes())
        builder.add(string_values(TEXT, raw, first_row=chunk * 50_000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found = builder.finish()
    assert isinstance(found, Refused)
    assert (found.reason, found.detail) == ("too_many", "more than 200,000 distinct keys")
    assert most < 100 << 20


@pytest.mark.parametrize("kind", Kind)
def test_strings_of_a_megabyte_are_taken(kind: Kind) -> None:
    found = built(TEXT, Wanted(kind), [["x" * 1_000_000, "yes no " * 150_000, None]])
    assert isinstance(found, Built)


@pytest.mark.parametrize("kind", [Kind.WORD_BLOOM, Kind.NGRAM_BITMAP])
def test_text_that_is_not_utf8_gets_no_index_of_pieces(kind: Kind) -> None:
    builder = IndexBuilder(TEXT, Wanted(kind))
    builder.add(string_values(TEXT, ByteStrings.of([b"fine", b"\xff"])))
    builder.add(string_values(TEXT, ByteStrings.of([b"fine"]), first_row=2))
    assert builder.finish() == Refused("not_utf8", "a value is not UTF-8")


@pytest.mark.parametrize("rows", [[], [None, None], [7, 7, 7]])
@pytest.mark.parametrize("kind", [Kind.BLOOM, Kind.BITMAP, Kind.BLOOMRF])
def test_columns_of_nothing_nulls_or_one_value_are_built(
    rows: list[int | None], kind: Kind
) -> None:
    found = built(LONG, Wanted(kind), [rows])
    assert isinstance(found, Built)
    expected = Expected(TABLE, 3, 9, len(rows), LONG)
    read = unwrap(blob_of(found, expected))
    assert isinstance(read, tuple)
    assert (refusal(read[0], expected), read[0].form, read[1]) == (None, found.form, found.body)
