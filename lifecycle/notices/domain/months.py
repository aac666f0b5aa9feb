"""Lays days with their counts out as a month, week by week from Monday."""

from calendar import monthcalendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

N_LEVELS = 4
_NONE = (0, 0)


@dataclass(frozen=True, slots=True)
class DayCell:
    """One day of a month: items that are due, their bytes, and backups that are purged.

    `level` is 0 where there is nothing, else 1 to N_LEVELS by its share of the month's busiest day.
    """

    day: date
    n_due: int
    n_bytes: int
    n_purged: int
    level: int
    is_today: bool


@dataclass(frozen=True, slots=True)
class Month:
    """A month; days of its neighbours are None."""

    first: date
    weeks: tuple[tuple[DayCell | None, ...], ...]

    @property
    def previous(self) -> date:
        """The first day of the month before."""
        return (self.first - timedelta(days=1)).replace(day=1)

    @property
    def following(self) -> date:
        """The first day of the month after."""
        return (self.first + timedelta(days=31)).replace(day=1)


def last_day_of(first: date) -> date:
    """Return the last day of the month that begins on `first`."""
    return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def lay_out(
    first: date,
    due: Mapping[date, tuple[int, int]],
    purged: Mapping[date, int],
    *,
    today: date,
) -> Month:
    """Return the month that begins on `first` with the counts of its days; `due`: items, bytes."""
    days = [first + timedelta(days=n) for n in range(last_day_of(first).day)]
    most = max(due.get(day, _NONE)[0] + purged.get(day, 0) for day in days)

    def cell(day: date) -> DayCell:
        (n_due, n_bytes), n_purged = due.get(day, _NONE), purged.get(day, 0)
        level = -(-N_LEVELS * (n_due + n_purged) // most) if most else 0
        return DayCell(day, n_due, n_bytes, n_purged, level, is_today=day == today)

    weeks = tuple(
        tuple(cell(first.replace(day=number)) if number else None for number in week)
        for week in monthcalendar(first.year, first.month)
    )
    return Month(first, weeks)
