"""Decides when destructive work may start.

Hours of the week on the clocks of the lake's own zone.

Written as "Mon-Fri 20:00-06:00, Sat-Sun 00:00-24:00"; a span that ends at or before its begin goes
on into the next day. Wall clocks decide: an hour that daylight saving leaves out never comes, one
that it repeats comes twice.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from portal.lake.errors import RuleViolation

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Zones differ from UTC, and change, by whole quarters of an hour.
STEP = timedelta(minutes=15)
_SEARCHED = timedelta(days=15)
_DAY_MINUTES = 24 * 60
_SPAN = re.compile(r"([a-z]{3})(?:-([a-z]{3}))? (\d\d):(\d\d)-(\d\d):(\d\d)")


@dataclass(frozen=True, slots=True)
class Span:
    """Days (Monday is 0) on which a span begins, and its first and last minute of the day."""

    days: frozenset[int]
    begin: int
    end: int

    def covers(self, day: int, minute: int) -> bool:
        """Whether a minute of a day of the week lies in the span."""
        if self.begin < self.end:
            return day in self.days and self.begin <= minute < self.end
        is_after_midnight = (day - 1) % 7 in self.days and minute < self.end
        return is_after_midnight or (day in self.days and minute >= self.begin)


@dataclass(frozen=True, slots=True)
class WorkingHours:
    """The hours in which starting is allowed; without any span it always is."""

    spans: tuple[Span, ...] = ()
    text: str = ""

    @classmethod
    def read(cls, text: str) -> "WorkingHours":
        """Read the written form; RuleViolation `hours.form` says how it is written."""
        parts = [part.strip().lower() for part in text.split(",") if part.strip()]
        return cls(tuple(_read_span(part) for part in parts), text.strip())

    def is_open(self, now: datetime, zone: ZoneInfo) -> bool:
        """Whether something may be started at an instant."""
        local = now.astimezone(zone)
        minute = local.hour * 60 + local.minute
        return not self.spans or any(span.covers(local.weekday(), minute) for span in self.spans)

    def opens_at(self, now: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the first instant from `now` on at which starting is allowed; None = not in sight.

        Everything changes at quarters of an hour only, so those are tried in turn.
        """
        if self.is_open(now, zone):
            return now
        whole = now.astimezone(UTC).replace(second=0, microsecond=0)
        instant = whole - timedelta(minutes=whole.minute % 15)
        while instant < now + _SEARCHED:
            instant += STEP
            if self.is_open(instant, zone):
                return instant
        return None


def _read_span(part: str) -> Span:
    found = _SPAN.fullmatch(part)
    if found is None:
        raise _violation(part)
    first, last = found[1], found[2] or found[1]
    if first not in DAYS or last not in DAYS:
        raise _violation(part)
    begin, end = _minute(part, found[3], found[4]), _minute(part, found[5], found[6])
    if begin in (end, _DAY_MINUTES):
        raise _violation(part)
    start, n_days = DAYS.index(first), (DAYS.index(last) - DAYS.index(first)) % 7 + 1
    return Span(frozenset((start + n) % 7 for n in range(n_days)), begin, end)


def _minute(part: str, hour: str, minute: str) -> int:
    total = int(hour) * 60 + int(minute)
    if int(minute) not in (0, 15, 30, 45) or total > _DAY_MINUTES:
        raise _violation(part)
    return total


def _violation(part: str) -> RuleViolation:
    return RuleViolation(
        "hours.form",
        f"'{part}' is no span of working hours. Write days and quarters of an hour, as in "
        "'Mon-Fri 20:00-06:00, Sat-Sun 00:00-24:00'.",
    )
