"""Decides which results of a rule are failures, which are news, and when a rule has recovered."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Severity
from quality.checks.domain.windows import window_start
from quality.incidents.domain.states import Resolution, State

MEASUREMENT = ""
"""In place of a rule's name: the table with its blocking rules could not be measured."""
SAME_WITHIN = timedelta(hours=24)
"""A rule that recovers and fails again so soon after its incident began has that one again."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a measurement says of one window."""

    window: str
    severity: Severity
    outcome: Outcome
    value: float | None = None
    is_overridden: bool = False


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the last closed incident that had the window knew of it."""

    state: State
    resolution: str
    outcome: str
    value: float | None
    is_failing: bool
    closed_at: datetime


def fails(seen: Seen) -> bool:
    """Return whether a result is one to look at.

    Notes never are. A result without an answer is one of blocking rules only, which keep data from
    its readers. What two people overrode was looked at.
    """
    if seen.severity is Severity.NOTE or seen.is_overridden:
        return False
    if seen.outcome is Outcome.UNKNOWN:
        return seen.severity is Severity.BLOCK
    return seen.outcome is Outcome.FAILED


def settles(seen: Seen) -> bool:
    """Return whether a result ends a failure of its window: it passed, or was overridden."""
    return seen.outcome is Outcome.PASSED or seen.is_overridden


def is_news(seen: Seen, earlier: Earlier | None, *, at: datetime) -> bool:
    """Return whether a failure measured at `at` opens an incident; False: a closed one had it.

    A window is measured again and again. With the answer of before it is no news, unless somebody
    said that it was fixed. What was measured before the incident was closed never is.
    """
    if earlier is None:
        return True
    if earlier.closed_at >= at:
        return False
    if not earlier.is_failing:
        return True
    if earlier.state is State.RESOLVED and earlier.resolution == Resolution.FIXED:
        return True
    return (seen.outcome, seen.value) != (earlier.outcome, earlier.value)


def has_recovered(
    severity: Severity, *, failing: Collection[str], newest: str, newest_passed: bool
) -> bool:
    """Return whether an incident is over by itself.

    Of a rule that blocks every window has to be settled, for each keeps data from its readers. Of
    others the newest window is enough; where windows are no dates none is the newest.
    """
    if not failing:
        return True
    if severity is Severity.BLOCK:
        return False
    is_dated = newest == "" or window_start(newest) is not None
    return is_dated and newest_passed


def is_same_again(state: State, *, opened_at: datetime, at: datetime) -> bool:
    """Return whether a new failure opens the last incident of the rule again."""
    return state is State.RECOVERED and at < opened_at + SAME_WITHIN
