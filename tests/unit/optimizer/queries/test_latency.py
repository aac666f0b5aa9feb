"""Quantiles of a histogram of times are within 5 % of exact ones, however it came about."""

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.queries.domain.latency import (
    LEAST,
    MOST,
    RELATIVE_ERROR,
    bucket_of,
    merged,
    quantile,
    seconds_of,
    with_time,
)

TIMES = st.lists(st.floats(LEAST, MOST, allow_nan=False), min_size=1, max_size=60)
SHARES = st.floats(0, 1, allow_nan=False)


def histogram(times: list[float]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in times:
        found = with_time(found, one)
    return found


def exact(times: list[float], share: float) -> float:
    return sorted(times)[max(1, math.ceil(share * len(times))) - 1]


@given(TIMES, SHARES)
def test_a_quantile_is_within_five_percent_of_the_exact_one(
    times: list[float], share: float
) -> None:
    found = quantile(histogram(times), share)
    assert found is not None
    right = exact(times, share)
    assert abs(found - right) <= RELATIVE_ERROR * right


@given(TIMES, TIMES, SHARES)
def test_parts_that_are_added_are_the_whole(
    times: list[float], more: list[float], share: float
) -> None:
    whole = histogram(times + more)
    assert merged([histogram(times), histogram(more)]) == whole
    assert merged([histogram(more), {}, histogram(times)]) == whole
    assert quantile(json.loads(json.dumps(whole)), share) == quantile(whole, share)


@given(st.floats(allow_nan=False, min_value=0))
def test_any_time_has_a_bucket_and_few_are_needed(seconds: float) -> None:
    assert 0 <= bucket_of(seconds) <= bucket_of(MOST) < 240


@pytest.mark.parametrize("bucket", [0, 1, 57, 200])
def test_the_time_of_a_bucket_is_in_it(bucket: int) -> None:
    assert bucket_of(seconds_of(bucket)) == bucket


def test_a_day_of_queries_of_very_different_length() -> None:
    drawn = random.Random(4)
    times = [drawn.lognormvariate(0.5, 2.0) for _ in range(20_000)]
    kept = histogram(times)
    assert len(json.dumps(kept)) < 4_000
    for share in (0.5, 0.95, 0.99, 1.0):
        assert quantile(kept, share) == pytest.approx(exact(times, share), rel=RELATIVE_ERROR)


def test_without_queries_there_is_no_quantile() -> None:
    assert quantile({}, 0.5) is None
    assert quantile(histogram([2.0]), 0.0) == pytest.approx(2.0, rel=RELATIVE_ERROR)
