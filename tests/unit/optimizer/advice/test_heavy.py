"""Tests the count of dear shapes against an exact one, whole and in merged parts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.heavy import HeavyShapes

LOG = st.lists(st.tuples(st.sampled_from("abcdefghijkl"), st.integers(0, 50)), max_size=200)


def counted(log: list[tuple[str, int]], places: int) -> HeavyShapes:
    found = HeavyShapes(places)
    for digest, cost in log:
        found.add(digest, cost=cost)
    return found


def check(found: HeavyShapes, log: list[tuple[str, int]], places: int) -> None:
    exact: Counter[str] = Counter()
    for digest, cost in log:
        exact[digest] += cost
    top = {one.digest: one for one in found.top()}
    assert len(top) <= places
    for digest, one in top.items():
        assert one.cost - one.too_much <= exact[digest] <= one.cost
    dear = {digest for digest, cost in exact.items() if cost > exact.total() / places}
    assert dear <= top.keys()


@given(LOG, st.integers(1, 6))
def test_every_dear_shape_has_a_place_and_its_cost_is_bounded(
    log: list[tuple[str, int]], places: int
) -> None:
    check(counted(log, places), log, places)


@given(LOG, LOG, st.integers(1, 6))
def test_parts_of_a_log_are_merged(
    first: list[tuple[str, int]], second: list[tuple[str, int]], places: int
) -> None:
    merged = counted(first, places).merged(counted(second, places))
    check(merged, first + second, places)


def test_with_places_for_all_the_count_is_exact() -> None:
    found = counted([("a", 3), ("b", 5), ("a", 4)], 2).top()
    assert [(one.digest, one.cost, one.too_much, one.n) for one in found] == [
        ("a", 7, 0, 2),
        ("b", 5, 0, 1),
    ]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one place"):
        HeavyShapes(0)
    with pytest.raises(ValueError, match="cannot cost"):
        HeavyShapes(1).add("a", cost=-1)
