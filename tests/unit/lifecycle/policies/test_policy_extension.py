"""However an owner asks: without an admin no item is kept longer in all than the bounds allow."""

from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.policies.domain.extension import (
    COUNTED_DAYS,
    Bounds,
    Granted,
    base_day,
    extend,
    used_days,
)
from portal.lake.errors import RuleViolation

TODAY = date(2026, 11, 22)
BOUNDS = Bounds(offered_days=30, most_days=90, most_days_asked=365)
PARTS = ("", "dt=1", "dt=2", "dt=3")


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 100)), max_size=30))
def test_no_item_gets_more_than_the_bound_without_an_admin(wishes: list[tuple[str, int]]) -> None:
    granted: list[Granted] = []
    for partition, days in wishes:
        found = extend(partition, days, base=TODAY, granted=granted, today=TODAY, bounds=BOUNDS)
        assert found.until == TODAY + timedelta(days=days)
        if not found.needs_admin:
            granted.append(Granted(partition, days, found.until))
    days_of: Counter[str] = Counter()
    for one in granted:
        for partition in PARTS[1:] if not one.partition else (one.partition,):
            days_of[partition] += one.days
    assert all(days <= BOUNDS.most_days for days in days_of.values())


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 90)), max_size=10))
def test_an_admin_is_asked_only_when_the_bound_would_be_crossed(
    earlier: list[tuple[str, int]],
) -> None:
    granted = [Granted(partition, days, TODAY) for partition, days in earlier]
    for partition in PARTS:
        used = used_days(partition, granted, today=TODAY)
        for days in (1, 30, 90):
            found = extend(partition, days, base=TODAY, granted=granted, today=TODAY, bounds=BOUNDS)
            assert found.needs_admin is (used + days > BOUNDS.most_days)


def test_days_are_counted_over_a_year() -> None:
    long_ago = TODAY - timedelta(days=COUNTED_DAYS + 1)
    assert used_days("", [Granted("", 90, long_ago)], today=TODAY) == 0
    assert used_days("", [Granted("", 90, long_ago + timedelta(days=1))], today=TODAY) == 90


@pytest.mark.parametrize("days", [0, -1, 366])
def test_odd_numbers_of_days_are_refused(days: int) -> None:
    with pytest.raises(RuleViolation):
        extend("", days, base=TODAY, granted=(), today=TODAY, bounds=BOUNDS)


def test_an_extension_counts_from_the_day_on_which_the_data_could_go() -> None:
    due, held = TODAY + timedelta(days=5), TODAY + timedelta(days=9)
    assert base_day(today=TODAY, due_on=due, held_until=None) == due
    assert base_day(today=TODAY, due_on=TODAY - timedelta(days=5), held_until=None) == TODAY
    assert base_day(today=TODAY, due_on=due, held_until=held) == held
    with pytest.raises(RuleViolation):
        base_day(today=TODAY, due_on=None, held_until=None)
