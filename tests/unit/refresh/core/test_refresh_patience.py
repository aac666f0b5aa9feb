"""Time-outs and pressure: how much a failing or busy system is asked."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refresh.changes.domain.pressure import (
    Pressure,
    PressureLimits,
    gather_for,
    pressure,
    takes_in,
)
from refresh.core.connectors.front_end import Budget
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


def test_the_client_waits_longer_than_the_server_can_take() -> None:
    budget = Budget(query_timeout=300)
    assert budget.read > budget.query_timeout + 10 + 60


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
