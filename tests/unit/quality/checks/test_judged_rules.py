"""A rule is judged on a value and its history by date; what cannot be said is unknown."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.checks.domain.judge import Outcome, Verdict, holds_back, judge
from quality.checks.domain.metrics import MetricKind
from quality.checks.domain.rules import Compare, CompareWith, Learnt, Rule, Season, Severity
from quality.checks.domain.windows import Reading

DAY = datetime(2026, 11, 27, tzinfo=UTC)  # a Friday
K = MetricKind


def reading(value: float | None, at: datetime = DAY, *, reason: str = "") -> Reading:
    return Reading(f"{at:%Y-%m-%d}", value, at + timedelta(days=1), reason)


def days(*values: float | None, last: datetime = DAY - timedelta(days=1)) -> list[Reading]:
    """Return readings of the days before, the newest last."""
    n = len(values)
    return [reading(one, last - timedelta(days=n - 1 - k)) for k, one in enumerate(values)]


def compared(with_: CompareWith, **bounds: Any) -> Rule:
    return Rule(K.SUM, name="r", column="x", compare=Compare(with_, **bounds))


def outcome(rule: Rule, value: float | None, history: Sequence[Reading] = ()) -> Verdict:
    return judge(rule, reading(value), history)


@pytest.mark.parametrize(
    ("value", "expected"), [(9, "failed"), (10, "passed"), (20, "passed"), (20.5, "failed")]
)
def test_fixed_bounds_belong_to_what_passes(value: float, expected: str) -> None:
    verdict = outcome(Rule(K.MEAN, column="x", min=10, max=20), value)
    assert verdict.outcome == expected
    assert (verdict.low, verdict.high) == (10, 20)


def test_the_text_says_value_bound_and_what_it_was_compared_with() -> None:
    rule = compared(CompareWith.SAME_WEEKDAY, periods=2, min="-20%", max="30%")
    history = [reading(100, DAY - timedelta(days=7)), reading(200, DAY - timedelta(days=14))]
    verdict = outcome(rule, 300, history)
    assert verdict.text == (
        "sum(x) is 300, above the maximum of 195; +100.0% against the median of 2 earlier weeks' "
        "same weekday (2 with a value), 150."
    )
    assert (verdict.expected, verdict.windows) == (150, ("2026-11-13", "2026-11-20"))


@pytest.mark.parametrize(
    ("with_", "there"),
    [
        (CompareWith.PREVIOUS, "2026-11-25"),
        (CompareWith.LAST_DAYS, "2026-11-26"),
        (CompareWith.SAME_WEEKDAY, "2026-11-20"),
        (CompareWith.LAST_MONTH, "2026-10-27"),
        (CompareWith.LAST_YEAR, "2025-11-27"),
    ],
)
def test_history_is_picked_by_the_windows_date(with_: CompareWith, there: str) -> None:
    """Readings come in any order; later windows, other days and no dates do not count."""
    at = datetime.fromisoformat(there).replace(tzinfo=UTC)
    others = ["2026-11-28", "2026-11-19", "2026-10-26", "2025-11-28", "country=fr"]
    history = [Reading(one, 1.0, DAY) for one in others] + [Reading(there, 100.0, at)]
    verdict = outcome(compared(with_, max="10%"), 110, history)
    assert (verdict.outcome, verdict.windows) == (Outcome.PASSED, (there,))
    assert outcome(compared(with_, max="10%"), 111, history).outcome is Outcome.FAILED


def test_the_window_itself_measured_before_is_no_history() -> None:
    rule = compared(CompareWith.PREVIOUS, max="10%")
    assert outcome(rule, 100, [reading(1)]).reason == "no_history"


def test_the_newest_measurement_of_a_window_counts() -> None:
    yesterday = DAY - timedelta(days=1)
    first = Reading("2026-11-26", 1.0, yesterday)
    again = Reading("2026-11-26", 100.0, yesterday + timedelta(hours=5))
    rule = compared(CompareWith.LAST_DAYS, max="10%")
    assert outcome(rule, 105, [again, first]).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("rule", "value", "history", "reason"),
    [
        (compared(CompareWith.LAST_YEAR, max="1%"), 5, days(1, 2, 3), "window_missing"),
        (compared(CompareWith.LAST_DAYS, periods=4, max="1%"), 5, days(1), "window_missing"),
        (compared(CompareWith.LAST_DAYS, max="1%"), 5, days(None), "window_missing"),
        (compared(CompareWith.LAST_DAYS, max="1%"), 5, days(0), "division_by_zero"),
        (compared(CompareWith.PREVIOUS, max="1%"), 5, [], "no_history"),
        (Rule(K.SUM, column="x", learnt=Learnt()), 5, days(1, 2, 3), "no_history"),
        (Rule(K.SUM, column="x", min=0), None, [], "not_measured"),
    ],
)
def test_what_cannot_be_said_is_unknown(
    rule: Rule, value: float | None, history: list[Reading], reason: str
) -> None:
    verdict = outcome(rule, value, history)
    assert (verdict.outcome, verdict.reason) == (Outcome.UNKNOWN, reason)


def test_a_leap_day_has_no_day_a_year_before() -> None:
    leap = datetime(2028, 2, 29, tzinfo=UTC)
    history = [Reading("2027-02-28", 1.0, leap), Reading("2027-03-01", 1.0, leap)]
    verdict = judge(compared(CompareWith.LAST_YEAR, max="1%"), reading(1, leap), history)
    assert verdict.reason == "window_missing"


@pytest.mark.parametrize("reason", ["empty_window", "not_a_number", "column_gone", "timed_out"])
def test_a_metric_without_a_value_passes_no_rule(reason: str) -> None:
    rule = Rule(K.NULL_RATE, column="x", max=1, severity=Severity.BLOCK)
    verdict = judge(rule, reading(None, reason=reason))
    assert (verdict.outcome, verdict.reason) == (Outcome.UNKNOWN, reason)
    assert holds_back(rule.severity, verdict.outcome)


def test_only_a_blocking_rule_holds_back() -> None:
    for severity in Severity:
        rule = Rule(K.NULL_COUNT, column="x", max=1, severity=severity)
        assert holds_back(severity, outcome(rule, 2).outcome) is (severity is Severity.BLOCK)
        assert not holds_back(severity, outcome(rule, 1).outcome)


def test_zero_after_zero_is_no_change() -> None:
    rule = compared(CompareWith.LAST_DAYS, min="-1%", max="1%")
    assert outcome(rule, 0, days(0)).outcome is Outcome.PASSED


def test_a_negative_baseline_bounds_the_right_way_round() -> None:
    rule = compared(CompareWith.LAST_DAYS, min="-10%", max="10%")
    assert outcome(rule, -105, days(-100)).outcome is Outcome.PASSED
    assert outcome(rule, -89, days(-100)).outcome is Outcome.FAILED


def test_a_difference_is_a_number_without_percent() -> None:
    rule = compared(CompareWith.LAST_DAYS, max=3)
    assert outcome(rule, 3, days(0)).outcome is Outcome.PASSED
    assert outcome(rule, 4, days(0)).outcome is Outcome.FAILED


def test_an_hour_is_compared_with_the_same_hour() -> None:
    at = datetime(2026, 11, 27, 5, tzinfo=UTC)
    history = [Reading("2026-11-26-05", 10.0, at), Reading("2026-11-27-04", 1.0, at)]
    of = Reading("2026-11-27-05", 10.0, at)
    day = judge(compared(CompareWith.LAST_DAYS, max="1%"), of, history)
    previous = judge(compared(CompareWith.PREVIOUS, max="1%"), of, history)
    assert (day.windows, previous.windows) == (("2026-11-26-05",), ("2026-11-27-04",))


def test_a_window_that_is_no_date_has_no_history() -> None:
    rule = compared(CompareWith.PREVIOUS, max="1%")
    assert judge(rule, Reading("fr", 1.0, DAY), days(1)).reason == "not_dated"


def test_a_whole_table_is_compared_by_the_day_of_measuring() -> None:
    history = [Reading("", 100.0, DAY - timedelta(days=1)), Reading("", 1.0, DAY)]
    verdict = judge(
        compared(CompareWith.LAST_DAYS, max="1%"), Reading("", 100.0, DAY + timedelta(hours=3)),
        history,
    )  # fmt: skip
    assert (verdict.outcome, verdict.windows) == (Outcome.PASSED, ("2026-11-26",))


WEEK = (100.0, 110.0, 120.0, 130.0, 140.0, 20.0, 10.0)


def test_what_is_usual_is_learnt_by_weekday() -> None:
    history = days(*(WEEK[k % 7] + k % 3 for k in range(35)))
    rule = Rule(K.SUM, column="x", learnt=Learnt(season=Season.WEEK, least=14))
    usual = judge(rule, reading(WEEK[35 % 7]), history)
    sunday = judge(rule, reading(10.0), history)
    assert (usual.outcome, sunday.outcome) == (Outcome.PASSED, Outcome.FAILED)
    flat = Rule(K.SUM, column="x", learnt=Learnt(least=14))
    assert judge(flat, reading(10.0), history).outcome is Outcome.PASSED


def test_one_odd_day_does_not_widen_the_bounds() -> None:
    values = [100.0 + k % 5 for k in range(40)]
    rule = Rule(K.SUM, column="x", learnt=Learnt())
    plain = outcome(rule, 100, days(*values))
    odd = outcome(rule, 100, days(*values[:20], 100_000.0, *values[21:]))
    assert (odd.low, odd.high) == pytest.approx((plain.low, plain.high), abs=10)


def test_few_values_make_wide_bounds() -> None:
    """Each value is predicted from the others alone: two of a weekday differ by all they differ."""
    history = days(*[100.0] * 7, *[110.0] * 7)
    rule = Rule(K.SUM, column="x", learnt=Learnt(season=Season.WEEK, tolerance=1, least=14))
    verdict = outcome(rule, 105, history)
    assert verdict.expected == 105
    assert verdict.high == pytest.approx(105 + 1.4826 * 10)


def test_deviations_below_the_floor_pass() -> None:
    history = days(*[0.0] * 30)
    rule = Rule(K.NULL_RATE, column="x", learnt=Learnt(floor=0.001))
    assert outcome(rule, 0.001, history).outcome is Outcome.PASSED
    assert outcome(rule, 0.002, history).outcome is Outcome.FAILED


FINITE = st.floats(-1e9, 1e9)


@given(st.lists(FINITE, max_size=40), FINITE, st.floats(0.1, 10), st.floats(-1e6, 1e6))
def test_learnt_bounds_move_and_stretch_with_the_values(
    values: list[float], value: float, factor: float, shift: float
) -> None:
    """Whatever the unit of a metric is, the answer is whether the value is usual."""
    rule = Rule(K.SUM, column="x", learnt=Learnt(least=5))
    verdict = outcome(rule, value, days(*values))
    assert verdict.outcome is not Outcome.UNKNOWN or len(values) < 5
    if verdict.low is not None and verdict.high is not None:
        assert (verdict.outcome is Outcome.PASSED) == (verdict.low <= value <= verdict.high)
        stretched = outcome(rule, value * factor, days(*[one * factor for one in values]))
        assert stretched.low == pytest.approx(verdict.low * factor, rel=1e-6, abs=1e-3)


@given(st.lists(st.one_of(st.none(), FINITE), max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_history_does_not_matter(values: list[float | None], dice: Any) -> None:
    history = days(*values)
    shuffled = [*history]
    dice.shuffle(shuffled)
    for with_ in CompareWith:
        rule = compared(with_, periods=2, min="-10%", max="10%")
        assert outcome(rule, 5, history) == outcome(rule, 5, shuffled)
