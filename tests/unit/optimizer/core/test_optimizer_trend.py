"""A trend leaves out what its neighbours tell, and keeps every fall and return."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.trend import MATTERS, POINT_EVERY, Point, is_told

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def kept_of(healths: list[float], every: timedelta = timedelta(minutes=1)) -> list[Point]:
    """Take looks in one by one, as they come."""
    kept: list[Point] = []
    for place, health in enumerate(healths):
        point = Point(NOW + place * every, health)
        if len(kept) > 1 and is_told(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def test_a_table_that_stays_as_it_is_keeps_a_point_each_ten_minutes() -> None:
    kept = kept_of([80.0] * 61)
    assert len(kept) <= 8
    assert all(after.at - before.at <= POINT_EVERY for before, after in pairwise(kept))


def test_a_fall_and_the_return_after_it_are_kept_within_minutes() -> None:
    kept = kept_of([95, 95, 40, 41, 94, 95, 60, 95])
    assert [point.health for point in kept] == [95, 40, 94, 60, 95]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=80))
def test_no_look_is_far_from_a_point_that_is_kept_near_it(healths: list[float]) -> None:
    kept = kept_of(healths)
    assert kept[0].health == healths[0]
    assert kept[-1].health == healths[-1]
    for place, health in enumerate(healths):
        at = NOW + place * timedelta(minutes=1)
        near = [one.health for one in kept if abs(one.at - at) < POINT_EVERY]
        assert any(abs(one - health) <= MATTERS for one in near)
