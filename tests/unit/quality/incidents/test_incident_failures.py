"""Which results are failures, which of them are news, and when a rule has recovered."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Severity
from quality.incidents.domain.failures import (
    Earlier,
    Seen,
    fails,
    has_recovered,
    is_news,
    is_same_again,
    settles,
)
from quality.incidents.domain.states import Resolution, State

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = "2026-11-20"


@pytest.mark.parametrize(
    ("severity", "outcome", "is_failure"),
    [
        (Severity.NOTE, Outcome.FAILED, False),
        (Severity.NOTE, Outcome.UNKNOWN, False),
        (Severity.ALARM, Outcome.FAILED, True),
        (Severity.ALARM, Outcome.UNKNOWN, False),
        (Severity.BLOCK, Outcome.FAILED, True),
        (Severity.BLOCK, Outcome.UNKNOWN, True),
        (Severity.BLOCK, Outcome.PASSED, False),
    ],
)
def test_alarms_and_blocks_fail_and_only_blocks_by_not_knowing(
    severity: Severity, outcome: Outcome, is_failure: bool
) -> None:
    assert fails(Seen(DAY, severity, outcome)) is is_failure


@given(st.builds(Seen, st.just(DAY), st.sampled_from(Severity), st.sampled_from(Outcome)))
def test_no_result_both_fails_and_settles(seen: Seen) -> None:
    assert not (fails(seen) and settles(seen))
    overridden = Seen(seen.window, seen.severity, seen.outcome, seen.value, is_overridden=True)
    assert not fails(overridden)
    assert settles(overridden)


KNOWN = Earlier(
    state=State.RESOLVED,
    resolution=Resolution.EXPECTED.value,
    outcome=Outcome.FAILED.value,
    value=4.0,
    is_failing=True,
    closed_at=NOW - HOUR,
)


def test_a_window_is_news_unless_a_closed_incident_had_the_same_answer() -> None:
    seen = Seen(DAY, Severity.ALARM, Outcome.FAILED, 4.0)
    assert is_news(seen, None, at=NOW)
    assert not is_news(seen, KNOWN, at=NOW)
    assert not is_news(seen, replace(KNOWN, state=State.RECOVERED, resolution=""), at=NOW)
    assert is_news(seen, replace(KNOWN, value=3.0), at=NOW)
    assert is_news(seen, replace(KNOWN, is_failing=False), at=NOW), "it had passed since"
    fixed = replace(KNOWN, resolution=Resolution.FIXED.value)
    assert is_news(seen, fixed, at=NOW), "it was not fixed"
    assert not is_news(seen, fixed, at=NOW - 2 * HOUR), "measured before it was fixed"


def test_a_blocking_rule_recovers_by_all_its_windows_and_others_by_the_newest() -> None:
    def over(severity: Severity, newest: str, *failing: str, passed: bool = True) -> bool:
        return has_recovered(severity, failing=failing, newest=newest, newest_passed=passed)

    assert over(Severity.BLOCK, "2026-11-21")
    assert not over(Severity.BLOCK, "2026-11-21", DAY)
    assert over(Severity.ALARM, "2026-11-21", DAY)
    assert not over(Severity.ALARM, "2026-11-21", DAY, passed=False)
    assert not over(Severity.ALARM, "west", "east"), "no window is the newest"
    assert over(Severity.ALARM, "west")


def test_what_recovers_and_fails_within_a_day_is_the_same_incident() -> None:
    assert is_same_again(State.RECOVERED, opened_at=NOW, at=NOW + 23 * HOUR)
    assert not is_same_again(State.RECOVERED, opened_at=NOW, at=NOW + 24 * HOUR)
    assert not is_same_again(State.RESOLVED, opened_at=NOW, at=NOW + HOUR)
