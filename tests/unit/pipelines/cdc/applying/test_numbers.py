"""Sets of batch numbers as intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.applying.domain.numbers import MOST_INTERVALS, Numbers
from portal.lake.errors import RuleViolation

sets = st.sets(st.integers(1, 60))


@given(sets, sets)
def test_they_are_what_sets_are(one: set[int], other: set[int]) -> None:
    left, right = Numbers.of(one), Numbers.of(other)
    assert set((left | right).each()) == one | other
    assert set((left - right).each()) == one - other
    assert [number in left for number in range(62)] == [number in one for number in range(62)]
    assert (left.count, left.last, bool(left)) == (len(one), max(one, default=0), bool(one))
    missing = next(number for number in range(3, 62) if number not in one)
    assert left.first_missing(3) == missing


@given(sets)
def test_equal_sets_have_one_text(one: set[int]) -> None:
    numbers = Numbers.of(one)
    assert Numbers.parse(str(numbers)) == numbers == Numbers.of(sorted(one, reverse=True))


def test_the_oldest_intervals_are_forgotten() -> None:
    numbers = Numbers.of(range(0, 2_000, 2))
    assert len(numbers.intervals) == MOST_INTERVALS
    assert 0 not in numbers
    assert numbers.last == 1_998


def test_a_text_that_is_none_is_refused() -> None:
    with pytest.raises(RuleViolation) as refused:
        Numbers.parse("1-x")
    assert refused.value.code == "cdc.batch_numbers"
