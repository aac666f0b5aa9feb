"""Tests what would be read: against files that are really cut, and against measured figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.what_if import Asking, Range, WhatIf
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, Layout, LayoutKind

WHOLE = "whole"
N_ROWS = 40_000
VALUES = {"s_city": 250, "c_city": 250, "p_brand": 1000}


def star() -> dict[str, tuple[str, np.ndarray]]:
    """Return a sample like the measured one: uniform columns of 250, 250 and 1000 values."""
    chance = np.random.default_rng(7)
    return {name: (WHOLE, chance.integers(0, n, N_ROWS)) for name, n in VALUES.items()}


def equal(name: str, n: int = 40) -> list[Asking]:
    chance = np.random.default_rng(11)
    drawn = chance.integers(0, VALUES[name], n)
    return [Asking((Range(name, int(value), int(value)),)) for value in drawn]


def hilbert(*columns: str) -> Layout:
    return Layout(LayoutKind.HILBERT, columns)


@pytest.mark.parametrize(("column", "measured"), [("s_city", 27), ("c_city", 27), ("p_brand", 28)])
def test_the_files_of_a_curve_are_those_that_were_measured(column: str, measured: int) -> None:
    """A real rewrite of 6 M rows into 100 files opened so many of them (docs, bench/layout.py)."""
    share = WhatIf(star(), equal(column), n_files=100).share(hilbert(*VALUES))
    assert share * 100 == pytest.approx(measured, rel=0.15)


def test_one_sorted_column_opens_few_files_and_the_others_all() -> None:
    layout = Layout(LayoutKind.SORT, ("s_city",))
    sample = star()
    assert WhatIf(sample, equal("s_city"), n_files=100).share(layout) < 0.02
    assert WhatIf(sample, equal("p_brand"), n_files=100).share(layout) > 0.95
    assert WhatIf(sample, equal("p_brand"), n_files=100).share(NO_LAYOUT) > 0.95


def test_columns_are_chosen_by_what_they_save_together() -> None:
    queries = [*equal("s_city"), *equal("p_brand")]
    best, *others = WhatIf(star(), queries, n_files=100).tried(list(VALUES))
    assert set(best.layout.columns) == {"s_city", "p_brand"}
    assert best.layout.kind is LayoutKind.HILBERT
    assert all(best.share <= one.share for one in others)
    assert NO_LAYOUT in {one.layout for one in others}


def test_what_nobody_filters_is_not_sorted_by() -> None:
    best, *_ = WhatIf(star(), equal("s_city"), n_files=100).tried(list(VALUES))
    assert best.layout == Layout(LayoutKind.SORT, ("s_city",))


def test_where_nothing_helps_the_present_layout_is_best() -> None:
    everything = [Asking((Range("s_city"),)), Asking(())]
    tried = WhatIf(star(), everything, n_files=100).tried(list(VALUES))
    assert tried[0].layout == NO_LAYOUT
    assert tried[0].share == 1.0
    assert WhatIf(star(), [], n_files=100).share(NO_LAYOUT) == 1.0


def test_a_dear_query_counts_more_than_a_cheap_one() -> None:
    cheap, dear = equal("c_city", 1)[0], equal("s_city", 1)[0]
    queries = [cheap, Asking(dear.ranges, weight=1000.0)]
    by_dear = Layout(LayoutKind.SORT, ("s_city",))
    assert WhatIf(star(), queries, n_files=100).share(by_dear) < 0.05


def test_texts_and_few_rows() -> None:
    words = np.array([f"w{n:03}".encode() for n in range(100)], dtype=object)
    queries = [Asking((Range("word", b"w050", b"w050x"),))]
    few = WhatIf({"word": ("text", words)}, queries, n_files=1000)
    assert few.n_files == 3
    assert few.share(Layout(LayoutKind.SORT, ("word",))) == pytest.approx(1 / 3)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=64, max_size=300),
    st.lists(st.tuples(st.integers(-1, 10), st.integers(-1, 10)), min_size=1, max_size=5),
    st.sampled_from([NO_LAYOUT, hilbert("a", "b"), Layout(LayoutKind.SORT, ("b", "a"))]),
)
def test_a_file_that_holds_a_row_is_opened(
    rows: list[tuple[int, int]], asked: list[tuple[int, int]], layout: Layout
) -> None:
    columns = {
        name: (WHOLE, np.array([row[place] for row in rows])) for place, name in enumerate("ab")
    }
    for value, other in asked:
        query = Asking((Range("a", value, value), Range("b", other, other)))
        share = WhatIf(columns, [query], n_files=5).share(layout)
        assert share > 0 if (value, other) in rows else share >= 0
        one_sided = WhatIf(columns, [Asking((Range("a", None, value),))], n_files=5).share(layout)
        assert (one_sided > 0) == any(row[0] <= value for row in rows)
