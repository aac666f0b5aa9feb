"""Windows of a table: which day or hour a partition's value means, and its neighbours in time."""

import calendar
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import msgspec

_DAY = timedelta(days=1)
_HOURLY = frozenset({"%Y-%m-%d-%H", "%Y-%m-%d %H", "%Y%m%d%H", "%Y-%m-%dT%H", "%Y-%m-%d %H:00:00"})
_FORMATS = ("%Y-%m-%d", "%Y%m%d", *sorted(_HOURLY))


class Reading(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was measured of one window: a value, or None for a reason."""

    window: str
    """The partition key's value; empty: the whole table."""
    value: float | None
    measured_at: datetime
    reason: str = ""


class Dated(msgspec.Struct, frozen=True):
    """A reading with the instant that its window means."""

    at: datetime
    is_hourly: bool
    reading: Reading


@lru_cache(maxsize=4096)  # histories are read for each window again
def window_start(value: str) -> tuple[datetime, bool] | None:
    """Return a partition value's day or hour and whether it is an hour; None: it is no time."""
    for form in _FORMATS:
        try:
            wall = datetime.strptime(f"{value}+0000", f"{form}%z")
        except ValueError:
            continue
        if wall.strftime(form) == value:
            return wall, form in _HOURLY
    return None


def dated(reading: Reading) -> Dated | None:
    """Return a reading with its window's time; the whole table's is the day of the measurement."""
    if not reading.window:
        day = reading.measured_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return Dated(day, is_hourly=False, reading=reading)
    found = window_start(reading.window)
    return None if found is None else Dated(*found, reading)


def by_time(history: Iterable[Reading]) -> dict[datetime, Reading]:
    """Return the newest measurement of each window that is a time."""
    newest: dict[datetime, Reading] = {}
    for one in history:
        place = dated(one)
        if place is None:
            continue
        other = newest.get(place.at)
        if other is None or one.measured_at >= other.measured_at:
            newest[place.at] = one
    return newest


def days_before(at: datetime, n: int) -> datetime:
    """Return the same hour so many days before."""
    return at - n * _DAY


def months_before(at: datetime, n: int) -> datetime | None:
    """Return the same day and hour so many months before; None: that month has no such day."""
    month = at.year * 12 + at.month - 1 - n
    year, month = divmod(month, 12)
    if year < 1 or at.day > calendar.monthrange(year, month + 1)[1]:
        return None
    return at.replace(year=year, month=month + 1)
