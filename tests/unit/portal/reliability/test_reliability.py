"""Claims, retries, circuit breaker and token bucket: how failing or busy systems are treated."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.reliability.breaker import (
    Breaker,
    BreakerPolicy,
    BreakerState,
    failed,
    started,
    succeeded,
)
from portal.reliability.claims import claim
from portal.reliability.retry import RetryPolicy, backoff, retry_at
from portal.reliability.token_bucket import TokenBucket, refill, take

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
lots = st.floats(0, 1, exclude_max=True)


class Rows:
    """Rows of which a number is still free."""

    def __init__(self, n_free: int) -> None:
        self.n_free = n_free

    def update(self, **changes: Any) -> int:
        n_changed, self.n_free = self.n_free, 0
        return n_changed


def test_a_row_is_claimed_once() -> None:
    rows = Rows(1)
    assert claim(rows, state="TAKEN")
    assert not claim(rows, state="TAKEN")


@pytest.mark.parametrize(
    ("n_failures", "seconds"), [(0, 2), (1, 2), (2, 4), (3, 8), (4, 10), (10**6, 10)]
)
def test_a_wait_doubles_up_to_the_longest_and_never_overflows(
    n_failures: int, seconds: int
) -> None:
    wait = backoff(n_failures, first=timedelta(seconds=2), longest=timedelta(seconds=10))
    assert wait == timedelta(seconds=seconds)


@given(n=st.integers(0, 10**6), lot=lots)
def test_a_retry_comes_within_its_bounds_or_never(n: int, lot: float) -> None:
    most = 10**5
    policy = RetryPolicy(most_tries=most)
    assert retry_at(n, now=NOW, lot=lot, policy=replace(policy, most_tries=None)) is not None
    at = retry_at(n, now=NOW, lot=lot, policy=policy)
    if n >= most:
        assert at is None
    else:
        assert at is not None
        assert policy.first / 2 <= at - NOW <= policy.longest


@given(lot=lots)
def test_waits_grow_and_those_who_failed_together_spread(lot: float) -> None:
    policy = RetryPolicy()
    waits = [at - NOW for n in range(1, 8) if (at := retry_at(n, now=NOW, lot=lot, policy=policy))]
    assert waits == sorted(waits)
    assert len(waits) == 7
    spread = [retry_at(3, now=NOW, lot=other / 4, policy=policy) for other in range(4)]
    assert len(set(spread)) == 4


POLICY = BreakerPolicy(threshold=3)
steps = st.lists(st.tuples(st.sampled_from(["ask", "ok", "fail"]), st.integers(0, 40)), max_size=60)


@given(steps)
def test_a_breaker_protects_and_always_lets_a_trial_through_in_time(
    script: list[tuple[str, int]],
) -> None:
    breaker, now, in_a_row = Breaker(), NOW, 0
    for what, seconds in script:
        now += timedelta(seconds=seconds)
        before = breaker.state(now)
        if what == "ask" and breaker.allows(now):
            breaker = started(breaker, now=now, policy=POLICY)
            # One trial at a time.
            assert before is BreakerState.CLOSED or not breaker.allows(now)
        elif what == "ok":
            breaker = succeeded(breaker, now=now)
            assert before is BreakerState.OPEN or breaker == Breaker()
        elif what == "fail":
            breaker = failed(breaker, now=now, policy=POLICY)
            assert before is not BreakerState.HALF_OPEN or breaker.state(now) is BreakerState.OPEN
        if before is BreakerState.CLOSED:
            in_a_row = {"fail": in_a_row + 1, "ok": 0}.get(what, in_a_row)
            assert (breaker.state(now) is BreakerState.OPEN) == (in_a_row >= POLICY.threshold)
        if breaker.state(now) is not BreakerState.CLOSED:
            in_a_row = 0
        # However it stands, it may be asked again before long.
        assert breaker.allows(now + POLICY.longest + POLICY.trial)


def test_pauses_double_up_to_the_longest_and_a_success_forgets_them() -> None:
    breaker, now, pauses = Breaker(n_failed=2), NOW, []
    for _ in range(7):
        breaker = failed(breaker, now=now, policy=POLICY)
        assert breaker.open_until is not None
        pauses.append((breaker.open_until - now).total_seconds())
        now = breaker.open_until
        assert breaker.state(now) is BreakerState.HALF_OPEN
    assert pauses == [5, 10, 20, 40, 80, 120, 120]
    assert succeeded(breaker, now=now) == Breaker()
    late = failed(breaker, now=now, policy=POLICY)
    assert succeeded(late, now=now) == late
    assert failed(late, now=now, policy=POLICY) == late


@given(
    prices=st.lists(st.integers(0, 10_000), max_size=20),
    waits=st.lists(st.integers(-5, 100), min_size=20, max_size=20),
)
def test_a_token_bucket_keeps_the_rate_and_lets_the_dearest_through(
    prices: list[int], waits: list[int]
) -> None:
    rate, most = 50.0, 100.0
    bucket, now, paid = TokenBucket(most, NOW), NOW, 0
    for price, wait in zip(prices, waits, strict=False):
        now += timedelta(seconds=wait)
        bucket = refill(bucket, now=now, per_second=rate, most=most)
        left = take(bucket, price)
        assert (left is None) == (bucket.tokens <= 0)
        if left is not None:
            bucket, paid = left, paid + price
        seconds = max(0.0, (bucket.at - NOW).total_seconds())
        dearest = max(prices)
        assert paid <= most + seconds * rate + dearest
    in_time = bucket.at + timedelta(seconds=(abs(min(bucket.tokens, 0.0)) + 1) / rate + 1)
    assert take(refill(bucket, now=in_time, per_second=rate, most=most), 10**9) is not None
