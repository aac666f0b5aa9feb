"""Which columns should have a file index, by what was recorded and sampled."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.index_advice import (
    CANDIDATES,
    FilteredScans,
    IndexOption,
    IndexProposal,
    decide_indexes,
    filtered_scans,
    index_candidates,
)
from optimizer.advice.domain.layout_advice import LEAST_SAVED, NoProposal, Traffic
from optimizer.advice.domain.subjects import Subject, text_of, value_of
from optimizer.iceberg.indexing.domain.wanted import MOST_COLUMNS, WantedIndex

BUSY = Traffic(600, 8, 1_000_000)


def scans(n_bytes: int, *filters: tuple[str, FilterKind], n: int = 100) -> FilteredScans:
    return FilteredScans(tuple(Filter(*one) for one in filters), n, n_bytes)


def option(column: str, without: float = 100, within: float = 1, **other: Any) -> IndexOption:
    return IndexOption(column, "bloom", without, within, 1_000, 2.0, **other)


BY_ID = scans(600, ("id", FilterKind.EQUAL))
BY_USER = scans(300, ("user", FilterKind.IN), ("day", FilterKind.RANGE))
BY_BOTH = scans(100, ("id", FilterKind.DYNAMIC), ("user", FilterKind.EQUAL))


def test_columns_that_are_looked_for_by_value_and_have_no_index_are_candidates() -> None:
    found = index_candidates([BY_ID, BY_USER, BY_BOTH], [])
    assert [(one.column, one.n_scans, one.n_bytes) for one in found] == [
        ("id", 200, 700),
        ("user", 200, 400),
    ]
    assert [one.column for one in index_candidates([BY_ID, BY_USER], [WantedIndex("ID")])] == [
        "user"
    ]
    few = scans(900, ("rare", FilterKind.EQUAL), n=19)
    assert index_candidates([few, scans(5, ("t", FilterKind.CONTAINS))], []) == []
    many = [scans(n, (f"c{n}", FilterKind.EQUAL)) for n in range(30)]
    assert [one.column for one in index_candidates(many, [])] == [
        f"c{n}" for n in range(29, 29 - CANDIDATES, -1)
    ]


def test_indexes_that_leave_out_much_are_taken_one_by_one() -> None:
    judged = decide_indexes(
        [option("user"), option("id")], [BY_ID, BY_USER, BY_BOTH], BUSY, indexes=()
    )
    assert isinstance(judged, IndexProposal)
    assert judged.columns == ("id", "user")
    assert judged.expected == pytest.approx(0.01)
    assert (judged.storage_bytes, judged.build_seconds) == (2_000, 4.0)
    assert "a look-up by id opens 1.0 files in place of 100.0 (bloom)" in judged.reason


def test_what_one_index_serves_speaks_for_no_second() -> None:
    twice = [scans(1_000, ("id", FilterKind.EQUAL), ("user", FilterKind.EQUAL))]
    judged = decide_indexes([option("id"), option("user")], twice, BUSY, indexes=())
    assert isinstance(judged, IndexProposal)
    assert judged.columns == ("id",)
    assert judged.runner_up.startswith("an index of user besides, would leave 1.0 %")


CASES: list[tuple[list[IndexOption], list[FilteredScans], Traffic, int, str]] = [
    ([option("id")], [BY_ID], Traffic(19, 1, 9), 0, "19 scans were recorded; 20 are needed."),
    ([], [BY_ID], BUSY, 0, "No column without an index is looked for by value often enough."),
    ([option("id", within=95)], [BY_ID], BUSY, 0, "would leave out 5.0 % of what scans plan"),
    ([option("id", refused="it is sorted")], [BY_ID], BUSY, 0, "does not pay: it is sorted."),
    ([option("id")], [BY_ID], BUSY, MOST_COLUMNS, "indexes 16 columns already"),
    ([option("a,b")], [scans(9, ("a,b", FilterKind.EQUAL))], BUSY, 0, "has a comma in its name"),
    ([option("id", within=100)], [BY_ID], BUSY, 0, "does not pay: it leaves out no file."),
]


@pytest.mark.parametrize(("options", "recorded", "traffic", "n_indexes", "words"), CASES)
def test_why_no_index_is_advised(
    options: list[IndexOption],
    recorded: list[FilteredScans],
    traffic: Traffic,
    n_indexes: int,
    words: str,
) -> None:
    indexes = [WantedIndex(f"c{n}") for n in range(n_indexes)]
    judged = decide_indexes(options, recorded, traffic, indexes=indexes)
    assert isinstance(judged, NoProposal)
    assert words in judged.reason


NAMES = st.sampled_from(["a", "b", "c", "d"])
SCANS = st.builds(
    FilteredScans,
    st.lists(st.builds(Filter, NAMES, st.sampled_from(FilterKind)), max_size=3).map(tuple),
    st.integers(0, 500),
    st.integers(0, 10**15),
)
OPTIONS = st.lists(
    st.builds(
        IndexOption,
        NAMES,
        st.just("bloom"),
        st.floats(0, 1e6),
        st.floats(0, 1e6),
        st.floats(0, 1e12),
        st.floats(0, 1e6),
        st.sampled_from(["", "no"]),
    ),
    unique_by=lambda one: one.column,
)


@given(OPTIONS, st.lists(SCANS, max_size=8))
def test_advice_saves_a_tenth_an_index_and_never_takes_a_refused_one(
    options: list[IndexOption], recorded: list[FilteredScans]
) -> None:
    judged = decide_indexes(options, recorded, BUSY, indexes=())
    if isinstance(judged, NoProposal):
        assert judged.reason.endswith((".", "asked."))
        return
    good = {one.column for one in options if not one.refused}
    assert set(judged.columns) <= good
    assert 0 <= judged.expected <= 1 - LEAST_SAVED * len(judged.columns) + 1e-9


def test_shapes_and_values_come_back_as_they_were() -> None:
    shape = {"filters": [["id", "="]], "n_scans": 3, "n_bytes": 9}
    assert filtered_scans([shape]) == [FilteredScans((Filter("id", FilterKind.EQUAL),), 3, 9)]
    assert value_of(Subject.INDEXES, text_of(["id", "user:bloom:12"])) == ["id", "user:bloom:12"]
    assert value_of(Subject.LAYOUT, text_of("sort(a,b)")) == "sort(a,b)"
    assert text_of(None) == ""
