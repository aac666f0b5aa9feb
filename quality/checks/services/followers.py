"""What follows from results; capabilities above add it.

Each is called in the transaction that writes the results, with the check set's row locked, and
again with the same results when they are taken in again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from quality.models import CheckSet, RuleResult


@dataclass(frozen=True, slots=True)
class Follower:
    """What a capability does with results."""

    judged: Callable[[CheckSet, Sequence[RuleResult], datetime], None]
    """A table was measured, and its rules were judged; the results may come without their keys."""
    unmeasured: Callable[[CheckSet, str, datetime], None]
    """A table could not be measured, and why."""
    changed: Callable[[CheckSet, Sequence[str], str, datetime], None]
    """Somebody changed the set; these rules are left of it, none where it is deleted."""


_followers: dict[str, Follower] = {}


def register_follower(name: str, follower: Follower) -> None:
    """Add a follower; registering a name again replaces it."""
    _followers[name] = follower


def tell_judged(row: CheckSet, results: Sequence[RuleResult], *, now: datetime) -> None:
    """Tell of new results of a table."""
    for name in sorted(_followers):
        _followers[name].judged(row, results, now)


def tell_unmeasured(row: CheckSet, problem: str, *, now: datetime) -> None:
    """Tell that a table could not be measured."""
    for name in sorted(_followers):
        _followers[name].unmeasured(row, problem, now)


def tell_changed(row: CheckSet, rules: Sequence[str], *, by: str, now: datetime) -> None:
    """Tell which rules are left of a set that was changed or is deleted."""
    for name in sorted(_followers):
        _followers[name].changed(row, rules, by, now)
