"""Computes how long an owner may keep data beyond its due day without asking an admin.

An extension is a hold with an end. Each item may be kept `most_days` longer in all, however the
days are asked for (for the table, for the partition, in one piece or many) and counted over a year;
what goes beyond needs one admin's yes.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from portal.lake.errors import RuleViolation

COUNTED_DAYS = 365


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the deployment allows: days at a time that are offered, and days in all a year."""

    offered_days: int = 30
    most_days: int = 90
    most_days_asked: int = 365


@dataclass(frozen=True, slots=True)
class Granted:
    """An extension that was granted without an admin; `partition` empty means the whole table."""

    partition: str
    days: int
    until: date


@dataclass(frozen=True, slots=True)
class Extension:
    """What an extension would do: keep until the end of `until`; whether an admin must agree."""

    until: date
    needs_admin: bool
    used_days: int


def extend(
    partition: str,
    days: int,
    *,
    base: date,
    granted: Iterable[Granted],
    today: date,
    bounds: Bounds,
) -> Extension:
    """Work out an extension of `days` from `base`, the day on which the data could go otherwise.

    Raises:
        RuleViolation: `extension.days` for less than one day or more than may be asked for at all.
    """
    if not 1 <= days <= bounds.most_days_asked:
        raise RuleViolation(
            "extension.days",
            f"Ask for 1 to {bounds.most_days_asked} days; what must stay longer is kept for ever "
            "by an admin.",
        )
    used = used_days(partition, granted, today=today)
    return Extension(base + timedelta(days=days), used + days > bounds.most_days, used)


def used_days(partition: str, granted: Iterable[Granted], *, today: date) -> int:
    """Return the most days that any item named by `partition` has had: its own and its table's.

    For a whole table that is the table's days and those of the partition that had most.
    """
    since = today - timedelta(days=COUNTED_DAYS)
    days: Counter[str] = Counter()
    for one in granted:
        if one.until >= since:
            days[one.partition] += one.days
    of_table = days.pop("", 0)
    own = days.get(partition, 0) if partition else max(days.values(), default=0)
    return of_table + own


def base_day(*, today: date, due_on: date | None, held_until: date | None) -> date:
    """Give the day from which an extension counts: today, the due day, or the end of the last one.

    Raises:
        RuleViolation: `extension.not_due` where nothing is due or due soon, and nothing is kept.
    """
    if due_on is None and held_until is None:
        raise RuleViolation(
            "extension.not_due",
            "Nothing of this is due or due soon, so there is nothing to put off yet.",
        )
    return max(day for day in (today, due_on, held_until) if day is not None)
