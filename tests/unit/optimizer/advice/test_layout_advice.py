"""Tests the decision on a layout, the queries drawn for it, and what indexes answer already."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from optimizer.advice.domain.drawn import DRAWN, RANGE_ROWS, RecordedScans, drawn_queries
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.layout_advice import (
    NoProposal,
    Option,
    Proposal,
    Traffic,
    confidence,
    decide_layout,
)
from optimizer.advice.domain.served import index_for
from optimizer.advice.domain.what_if import Range, WhatIf
from optimizer.iceberg.indexing.domain.wanted import parse_wanted
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, parse_layout

GIB = 1024**3
BUSY = Traffic(n_scans=1_000, n_days=14, bytes_a_day=100 * GIB)
BEST = Option(parse_layout("hilbert(a,b)"), 0.2)
NEXT = Option(parse_layout("sort(a)"), 0.5)


def judged(
    *options: Option,
    now: float = 1.0,
    traffic: Traffic = BUSY,
    current: str = "",
    rewrite_bytes: int = GIB,
    n_files: int = 100,
) -> Proposal | NoProposal:
    return decide_layout(
        now,
        options or (BEST, NEXT),
        traffic,
        current=parse_layout(current),
        rewrite_bytes=rewrite_bytes,
        n_files=n_files,
    )


def test_what_reads_least_is_proposed_with_the_runner_up() -> None:
    found = judged(now=0.8)
    assert isinstance(found, Proposal)
    assert found.layout == BEST.layout
    assert found.expected == pytest.approx(0.25)
    assert "open 80 % of a partition's files" in found.reason
    assert "20 % in hilbert(a,b)" in found.reason
    assert "back within a day" in found.reason
    assert found.runner_up == "sort(a) would open 50 %"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"traffic": Traffic(19, 2, GIB)}, "19 scans were recorded; 20 are needed"),
        ({"n_files": 1}, "is one file"),
        ({"current": "hilbert(a,b)"}, "has the best layout already"),
        ({"now": 0.21}, "would leave out 4.8 %"),
        ({"rewrite_bytes": 2000 * GIB}, "more than 30 days"),
        ({"traffic": Traffic(1_000, 14, 0)}, "more than 30 days"),
        ({"now": 0.0}, "No filter"),
    ],
)
def test_nothing_is_proposed_without_a_reason_to(asked: dict[str, object], why: str) -> None:
    found = judged(**asked)  # type: ignore[arg-type]  # one of several keywords each
    assert isinstance(found, NoProposal)
    assert why in found.reason


@given(st.floats(0.01, 1), st.lists(st.floats(0, 1), min_size=1, max_size=6))
@example(1 / 3, [0.3])
def test_a_proposal_always_leaves_out_a_tenth(now: float, shares: list[float]) -> None:
    options = [Option(parse_layout("sort(a)"), share) for share in sorted(shares)]
    found = judged(*options, now=now)
    if isinstance(found, Proposal):
        assert found.expected <= 0.9
    else:
        assert min(shares) / now > 0.9


def test_confidence_grows_with_scans_and_days() -> None:
    asked = [Traffic(20, 1, 0), Traffic(100, 2, 0), Traffic(500, 7, 0), Traffic(9_999, 1, 0)]
    assert [confidence(one) for one in asked] == ["low", "medium", "high", "low"]


def scans(*filters: tuple[str, FilterKind], n_files: int = 48) -> RecordedScans:
    return RecordedScans(tuple(Filter(*one) for one in filters), 4, n_files)


def test_queries_look_for_values_of_rows_that_are_there() -> None:
    columns = {"a": ("whole", np.arange(1000) * 2), "b": ("whole", np.arange(1000) % 7)}
    recorded = [
        scans(("a", FilterKind.EQUAL), ("b", FilterKind.DYNAMIC)),
        scans(("a", FilterKind.RANGE)),
        scans(("a", FilterKind.CONTAINS)),
        scans(("gone", FilterKind.EQUAL)),
        scans(),
    ]
    found = drawn_queries(columns, recorded)
    assert len(found) == 2 * DRAWN + 3
    assert found == drawn_queries(columns, recorded)
    for one in found[:DRAWN]:
        (a, b) = one.ranges
        assert a.low == a.high
        assert b == Range("b", a.low // 2 % 7, a.low // 2 % 7)
    for one in found[DRAWN : 2 * DRAWN]:
        (a,) = one.ranges
        assert (a.high - a.low) / 2 <= RANGE_ROWS * 1000
    assert [one.ranges for one in found[2 * DRAWN :]] == [(), (), ()]
    # What no layout helps weighs as much as what one does.
    assert sum(one.weight for one in found) == pytest.approx(5 * 48)


def test_a_sample_without_columns_reads_all() -> None:
    assert [one.ranges for one in drawn_queries({}, [scans(("a", FilterKind.EQUAL))])] == [()]


def test_the_layout_of_what_is_asked_is_found_from_reports_alone() -> None:
    """Two columns are asked, one rarely; rows lie by a third, as they were loaded."""
    chance = np.random.default_rng(3)
    n = 20_000
    columns = {
        "product": ("whole", chance.integers(0, 500, n)),
        "shop": ("whole", chance.integers(0, 100, n)),
    }
    recorded = [
        scans(("product", FilterKind.EQUAL), n_files=900),
        scans(("shop", FilterKind.EQUAL), n_files=300),
    ]
    what_if = WhatIf(columns, drawn_queries(columns, recorded), n_files=50)
    assert what_if.share(NO_LAYOUT) > 0.9
    best = what_if.tried(list(columns))[0]
    assert set(best.layout.columns) == {"product", "shop"}
    assert best.share < 0.35


def test_what_the_order_of_the_load_serves_already_is_not_given_up() -> None:
    """A day is asked often and planned from one file each time, a shop seldom and from all."""
    chance = np.random.default_rng(4)
    n, n_files = 20_000, 100
    # Files come in any order; of each some rows more or fewer are in the sample.
    sizes = chance.multinomial(n, [1 / n_files] * n_files)
    days = np.repeat(chance.permutation(n_files), sizes)
    columns = {"day": ("whole", days), "shop": ("whole", chance.integers(0, 100, n))}
    recorded = [
        RecordedScans((Filter("day", FilterKind.EQUAL),), 1_000, 1_000),
        RecordedScans((Filter("shop", FilterKind.EQUAL),), 20, 2_000),
    ]
    what_if = WhatIf(columns, drawn_queries(columns, recorded), n_files=n_files, lie=days)
    what_if.weigh_by_files()
    now = what_if.share(NO_LAYOUT)
    assert now == pytest.approx((1_000 / n_files + 20) / 1_020, rel=0.02)
    by_shop = what_if.share(parse_layout("sort(shop)"))
    assert by_shop / now == pytest.approx((100_000 + 20) / 3_000, rel=0.15)
    best = what_if.tried(what_if.asked_most())[0]
    assert best.share <= now
    assert what_if.asked_most() == ["day", "shop"]


@pytest.mark.parametrize(
    ("index", "kind", "is_served"),
    [
        ("Id:bloom", FilterKind.EQUAL, True),
        ("id", FilterKind.IN, True),
        ("id:bloom", FilterKind.RANGE, False),
        ("id:bloomrf", FilterKind.RANGE, True),
        ("id:ngram_bloom", FilterKind.CONTAINS, True),
        ("id:token_bloom", FilterKind.CONTAINS, False),
        ("other:bloom", FilterKind.EQUAL, False),
    ],
)
def test_a_filter_that_an_index_answers_is_served(
    index: str, kind: FilterKind, is_served: bool
) -> None:
    found = index_for(Filter("id", kind), [parse_wanted(index)])
    assert (found is not None) == is_served
