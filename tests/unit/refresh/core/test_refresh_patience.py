"""Retries, time-outs, breakers and pressure: how much a failing or busy system is asked."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refresh.changes.domain.pressure import (
    Pressure,
    PressureLimits,
    Purse,
    earned,
    gather_for,
    pressure,
    spent,
    takes_in,
)
from refresh.core.connectors.session import Budget
from refresh.core.domain.breaker import (
    Breaker,
    BreakerPolicy,
    BreakerState,
    failed,
    started,
    succeeded,
)
from refresh.core.domain.retries import RetryPolicy, retry_at
from refresh.worker.domain.lanes import (
    Pace,
    Past,
    Waited,
    expected_seconds,
    is_own_pace,
    measured,
    statement_timeout,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
lots = st.floats(0, 1, exclude_max=True)


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


def test_the_client_waits_longer_than_the_server_can_take() -> None:
    budget = Budget(query_timeout=300)
    assert budget.read > budget.query_timeout + 10 + 60


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


@given(before=st.sampled_from(Pressure), n=st.integers(0, 10_000))
def test_pressure_has_marks_and_eases_only_at_half_of_them(before: Pressure, n: int) -> None:
    limits = PressureLimits(high=500, full=5_000)
    now = pressure(n, before=before, limits=limits)
    if n >= limits.full:
        assert now is Pressure.FULL
    elif n >= limits.high:
        keeps_full = before is Pressure.FULL and n > limits.full // 2
        assert now is (Pressure.FULL if keeps_full else Pressure.HIGH)
    elif n <= limits.high // 2:
        assert now is Pressure.NONE
    else:
        assert now is (Pressure.NONE if before is Pressure.NONE else Pressure.HIGH)
    assert pressure(n, before=now, limits=limits) is now
    assert takes_in(now) == (now is not Pressure.FULL)
    assert gather_for(Pressure.NONE) < gather_for(Pressure.HIGH) < gather_for(Pressure.FULL)


@given(
    prices=st.lists(st.integers(0, 10_000), max_size=20),
    waits=st.lists(st.integers(-5, 100), min_size=20, max_size=20),
)
def test_a_purse_keeps_the_rate_and_lets_the_dearest_through(
    prices: list[int], waits: list[int]
) -> None:
    rate, most = 50.0, 100.0
    purse, now, paid = Purse(most, NOW), NOW, 0
    for price, wait in zip(prices, waits, strict=False):
        now += timedelta(seconds=wait)
        purse = earned(purse, now=now, a_second=rate, most=most)
        left = spent(purse, price)
        assert (left is None) == (purse.calls <= 0)
        if left is not None:
            purse, paid = left, paid + price
        seconds = max(0.0, (purse.at - NOW).total_seconds())
        dearest = max(prices)
        assert paid <= most + seconds * rate + dearest
    in_time = purse.at + timedelta(seconds=(abs(min(purse.calls, 0.0)) + 1) / rate + 1)
    assert spent(earned(purse, now=in_time, a_second=rate, most=most), 10**9) is not None


@pytest.mark.parametrize(
    ("expected", "is_one_silent", "seconds"),
    [(0.5, False, 10), (0.5, True, 5), (20.0, False, 80), (20.0, True, 40), (1e6, True, 1800)],
)
def test_s2_nobody_waits_long_for_a_silent_front_end(
    expected: float, is_one_silent: bool, seconds: int
) -> None:
    found = statement_timeout(expected, most=1800, is_one_silent=is_one_silent)
    assert found == seconds
    assert statement_timeout(expected, most=1, is_one_silent=is_one_silent) == 1


@pytest.mark.parametrize(
    ("was_silent", "failure", "is_own"),
    [
        (False, None, True),
        (False, "java.net.SocketTimeoutException: Read timed out", True),
        (True, "java.net.SocketTimeoutException: Read timed out", False),
        (True, "Socket is closed by peer.", False),
        (True, "java.net.ConnectException: Connection refused", True),
        (True, "Invalid port 0", True),
        (True, None, False),
    ],
)
def test_s2_only_a_silent_front_end_makes_the_pace_another_than_the_tables(
    was_silent: bool, failure: str | None, is_own: bool
) -> None:
    well = Waited(was_silent=False, failure=None)
    assert is_own_pace([well, Waited(was_silent, failure)]) is is_own


def test_s10_a_table_without_a_past_is_expected_to_cost_what_large_ones_did() -> None:
    pace = Pace()
    assert measured(pace, []) == pace
    assert measured(pace, [Past(9.0, 10)]) == pace, "few partitions say nothing"
    found = measured(pace, [Past(278.5, 50_000), Past(20.5, 4_000), Past(1000.5, 1_000)])
    assert expected_seconds(50_000, past=(), pace=found) == pytest.approx(278.5)
