"""Judges a rule on one window's value: passed, failed, or unknown for a reason."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from quality.checks.domain.comparisons import Baseline, baseline, since
from quality.checks.domain.learnt import bounds, usual
from quality.checks.domain.metrics import RATES, MetricKind
from quality.checks.domain.reasons import Reason, words
from quality.checks.domain.rules import Compare, CompareWith, Learnt, Rule, Severity, percent
from quality.checks.domain.windows import Dated, Reading, dated


class Outcome(StrEnum):
    """What a rule says of a window."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule's answer on one window, with what it was judged by."""

    outcome: Outcome
    text: str
    """The value, the bound, and what it was compared with."""
    reason: str = ""
    """Why it is unknown."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    """Between what the value passes; None: no bound at that side."""
    expected: float | None = None
    """What it was compared with."""
    windows: tuple[str, ...] = ()
    """The earlier windows that it was compared with."""


def judge(rule: Rule, reading: Reading, history: Sequence[Reading] = ()) -> Verdict:
    """Judge one window.

    `history` has readings of the same metric, in any order; those of the window itself, and of
    later ones, do not count.
    """
    label = rule.measured.label
    if reading.value is None:
        reason = reading.reason or Reason.NOT_MEASURED
        return _unknown(f"{label} has no value: {words(reason)}.", reason)
    if rule.compare is not None or rule.learnt is not None:
        place = dated(reading)
        if place is None:
            return _unknown(
                f"{label} is {_number(rule, reading.value)}; it has nothing to be compared with: "
                f"{words(Reason.NOT_DATED)}.",
                Reason.NOT_DATED,
                reading.value,
            )
        if rule.compare is not None:
            return _compared(rule, rule.compare, place, history)
        if rule.learnt is not None:
            return _learnt(rule, rule.learnt, place, history)
    low, high = rule.min, rule.max
    if low is None and high is None:
        high = 0.0  # a schema without bounds: no differences
    return _between(rule, reading.value, (low, high))


def holds_back(severity: str, outcome: str) -> bool:
    """Return whether the window may not become ready: a blocking rule that has not passed."""
    return severity == Severity.BLOCK and outcome != Outcome.PASSED


def _compared(rule: Rule, compare: Compare, place: Dated, history: Sequence[Reading]) -> Verdict:
    value = place.reading.value
    if value is None:
        raise ValueError("a reading without a value is not compared")
    base = baseline(compare, place, history)
    named = f"{rule.measured.label} is {_number(rule, value)}"
    if base.value is None:
        missing = f" ({', '.join(base.missing)})" if base.missing else ""
        return _unknown(f"{named}; {words(base.reason)}{missing}.", base.reason, value)
    if base.value == 0 and value != 0 and _is_relative(compare):
        return msgspec.structs.replace(
            _unknown(
                f"{named}; a change in percent of {_base_words(compare, base)}, which is 0, "
                "cannot be computed.",
                Reason.DIVISION_BY_ZERO,
                value,
            ),
            expected=0.0,
            windows=base.windows,
        )
    limits = (_limit(compare.min, base.value), _limit(compare.max, base.value))
    verdict = _between(
        rule,
        value,
        limits,
        f"{_change(value, base.value)} {_base_words(compare, base)}, {_number(rule, base.value)}",
    )
    return msgspec.structs.replace(verdict, expected=base.value, windows=base.windows)


def _learnt(rule: Rule, learnt: Learnt, place: Dated, history: Sequence[Reading]) -> Verdict:
    value = place.reading.value
    if value is None:
        raise ValueError("a reading without a value is not compared")
    values = since(place, history, days=learnt.days)
    found = usual(learnt, place.at, values)
    if found is None:
        return _unknown(
            f"{rule.measured.label} is {_number(rule, value)}; {len(values)} earlier values in "
            f"{learnt.days} days are too few to say what is usual (it needs {learnt.least}).",
            Reason.NO_HISTORY,
            value,
        )
    verdict = _between(
        rule,
        value,
        bounds(learnt, found),
        f"usual is {_number(rule, found.expected)} with a deviation of "
        f"{_number(rule, found.deviation)}, from {found.n} values",
    )
    return msgspec.structs.replace(verdict, expected=found.expected)


def _between(
    rule: Rule, value: float, limits: tuple[float | None, float | None], compared: str = ""
) -> Verdict:
    low, high = limits
    is_low, is_high = low is not None and value < low, high is not None and value > high
    outcome = Outcome.FAILED if is_low or is_high else Outcome.PASSED
    if is_low and low is not None:
        said = f"below the minimum of {_number(rule, low)}"
    elif is_high and high is not None:
        said = f"above the maximum of {_number(rule, high)}"
    else:
        said = _range_words(rule, low, high)
    tail = f"; {compared}" if compared else ""
    text = f"{rule.measured.label} is {_number(rule, value)}, {said}{tail}."
    return Verdict(outcome, text, value=value, low=low, high=high)


def _range_words(rule: Rule, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {_number(rule, low)} and {_number(rule, high)}"
    if low is not None:
        return f"at least {_number(rule, low)}"
    return f"at most {_number(rule, high)}" if high is not None else "without a bound"


def _limit(bound: float | str | None, base: float) -> float | None:
    if bound is None:
        return None
    share = percent(bound)
    return base + (float(bound) if share is None else share * abs(base))


def _is_relative(compare: Compare) -> bool:
    return any(one is not None and percent(one) is not None for one in (compare.min, compare.max))


def _change(value: float, base: float) -> str:
    if base == 0:
        return f"{value - base:+g} against"
    return f"{(value - base) / abs(base):+.1%} against"


_BASES = {
    CompareWith.PREVIOUS: ("the previous window", "the previous {n} windows"),
    CompareWith.LAST_DAYS: ("the day before", "the {n} days before"),
    CompareWith.SAME_WEEKDAY: ("the same weekday a week before", "{n} earlier weeks' same weekday"),
    CompareWith.LAST_MONTH: ("the same day a month before", "the same day of {n} earlier months"),
    CompareWith.LAST_YEAR: ("the same day a year before", "the same day of {n} earlier years"),
}


def _base_words(compare: Compare, base: Baseline) -> str:
    one, several = _BASES[compare.with_]
    if compare.periods == 1:
        return f"{one} ({', '.join(base.windows)})"
    return f"the median of {several.format(n=compare.periods)} ({len(base.windows)} with a value)"


def _unknown(text: str, reason: str, value: float | None = None) -> Verdict:
    return Verdict(Outcome.UNKNOWN, text, reason=str(reason), value=value)


def _number(rule: Rule, value: float) -> str:
    if rule.metric in RATES:
        return f"{100 * value:.6g} %"
    if rule.metric is MetricKind.FRESHNESS:
        return f"{value:,.0f} s"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
