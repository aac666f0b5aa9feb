"""Picks the earlier windows that a value is compared with, by their time and not their order."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from statistics import median

import msgspec

from quality.checks.domain.reasons import Reason
from quality.checks.domain.rules import Compare, CompareWith
from quality.checks.domain.windows import Dated, Reading, by_time, days_before, months_before

_WEEK = 7


class Baseline(msgspec.Struct, frozen=True):
    """What a value is compared with: the median of earlier readings; None for a reason."""

    value: float | None
    windows: tuple[str, ...] = ()
    """The windows whose values it is made of."""
    missing: tuple[str, ...] = ()
    """Windows that should have been there as well."""
    reason: str = ""


def baseline(compare: Compare, of: Dated, history: Sequence[Reading]) -> Baseline:
    """Return what a comparison compares with.

    Of several periods at least half must have a value; windows after `of` never count.
    """
    known = {at: one for at, one in by_time(history).items() if at < of.at}
    if compare.with_ is CompareWith.PREVIOUS:
        return _of_newest(known, compare.periods)
    wanted = list(_wanted(compare, of.at))
    found = [known[at] for at in wanted if at is not None and known.get(at) is not None]
    valued = [one for one in found if one.value is not None]
    names = _names(valued)
    missing = tuple(
        _name(at, of) for at in wanted if at is None or at not in known or known[at].value is None
    )
    if not valued or 2 * len(valued) < len(wanted):
        return Baseline(None, names, missing, Reason.WINDOW_MISSING)
    return Baseline(_median(valued), names, missing)


def _wanted(compare: Compare, at: datetime) -> Iterable[datetime | None]:
    numbers = range(1, compare.periods + 1)
    match compare.with_:
        case CompareWith.LAST_DAYS:
            return (days_before(at, n) for n in numbers)
        case CompareWith.SAME_WEEKDAY:
            return (days_before(at, n * _WEEK) for n in numbers)
        case CompareWith.LAST_MONTH:
            return (months_before(at, n) for n in numbers)
        case _:
            return (months_before(at, n * 12) for n in numbers)


def _of_newest(known: dict[datetime, Reading], periods: int) -> Baseline:
    newest = [known[at] for at in sorted(known, reverse=True)[:periods]]
    valued = [one for one in newest if one.value is not None]
    if not newest:
        return Baseline(None, reason=Reason.NO_HISTORY)
    names = _names(valued)
    if not valued or 2 * len(valued) < periods:
        return Baseline(None, names, reason=Reason.WINDOW_MISSING)
    return Baseline(_median(valued), names)


def _names(readings: Iterable[Reading]) -> tuple[str, ...]:
    return tuple(sorted({one.window or f"{one.measured_at:%Y-%m-%d}" for one in readings}))


def _name(at: datetime | None, of: Dated) -> str:
    if at is None:
        return "a day that its month does not have"
    return f"{at:%Y-%m-%d %H}" if of.is_hourly else f"{at:%Y-%m-%d}"


def _median(readings: Sequence[Reading]) -> float:
    return float(median(one.value for one in readings if one.value is not None))


def since(of: Dated, history: Iterable[Reading], *, days: int) -> dict[datetime, float]:
    """Return the values of so many days before, by their windows' times."""
    first = of.at - timedelta(days=days)
    return {
        at: one.value
        for at, one in sorted(by_time(history).items())
        if first <= at < of.at and one.value is not None
    }
