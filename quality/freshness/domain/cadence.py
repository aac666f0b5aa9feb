"""Partitions that a table gets, one a day or one an hour, and their names.

Partitions are named by the lake's wall clock. An hour that daylight saving leaves out has none; an
hour that comes twice has one, which lasts through both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from portal.lake.errors import RuleViolation
from portal.lake.names import PartitionName

_HOURS = "%H"


class TimeFormat(StrEnum):
    """How a partition key writes its time."""

    DAY = "yyyy-MM-dd"
    PLAIN_DAY = "yyyyMMdd"
    HOUR = "yyyy-MM-dd-HH"
    PLAIN_HOUR = "yyyyMMddHH"


_PATTERNS = {
    TimeFormat.DAY: "%Y-%m-%d",
    TimeFormat.PLAIN_DAY: "%Y%m%d",
    TimeFormat.HOUR: "%Y-%m-%d-%H",
    TimeFormat.PLAIN_HOUR: "%Y%m%d%H",
}


@dataclass(frozen=True, slots=True)
class Period:
    """One day or hour between two instants; `values` is what its partitions are named by."""

    start: datetime
    end: datetime
    values: tuple[tuple[str, str], ...]

    @property
    def spec(self) -> str:
        """The part of a partition's name that means this period: `dt=2026-11-21`."""
        keys, values = zip(*self.values, strict=True)
        return str(PartitionName(keys, values))


@dataclass(frozen=True, slots=True)
class Cadence:
    """The keys that hold a table's time: one of days or hours, or one of days and one of hours."""

    time_key: str
    time_format: TimeFormat
    hour_key: str
    zone: ZoneInfo

    @property
    def is_hourly(self) -> bool:
        """Whether there is a partition an hour."""
        return bool(self.hour_key) or _HOURS in _PATTERNS[self.time_format]

    @property
    def step(self) -> timedelta:
        """How long a period is by the wall clock."""
        return timedelta(hours=1) if self.is_hourly else timedelta(days=1)

    def check(self, keys: tuple[str, ...]) -> None:
        """Refuse a cadence that a table with these partition keys cannot have.

        Raises:
            RuleViolation: `cadence.unpartitioned`, `cadence.key`, `cadence.hours`.
        """
        if not keys:
            raise RuleViolation(
                "cadence.unpartitioned",
                "The table is not partitioned, so no partition of it can be late.",
            )
        for key in filter(None, (self.time_key, self.hour_key)):
            if key not in keys:
                raise RuleViolation(
                    "cadence.key",
                    f"The table is not partitioned by {key!r}. Its keys are: {', '.join(keys)}.",
                    key=key,
                )
        if self.hour_key and (
            _HOURS in _PATTERNS[self.time_format] or self.hour_key == self.time_key
        ):
            raise RuleViolation(
                "cadence.hours",
                f"{self.time_key!r} holds the hour already; leave the key of hours empty.",
            )

    def period_at(self, instant: datetime) -> Period:
        """Return the period that an instant lies in."""
        return self._period(_floor(instant.astimezone(self.zone), hourly=self.is_hourly))

    def periods(self, first: datetime, *, ended_by: datetime) -> Iterator[Period]:
        """Yield the periods from that of `first` on that had ended at an instant, in order."""
        wall = _floor(first.astimezone(self.zone), hourly=self.is_hourly)
        while True:
            period = self._period(wall)
            if period.end > ended_by:
                return
            if self._is_there(period, wall):
                yield period
            wall += self.step

    def period_of(self, values: Mapping[str, str | None]) -> Period | None:
        """Return the period of a partition with these values; None: its values are no time."""
        text, hour = values.get(self.time_key), values.get(self.hour_key, "")
        if text is None or hour is None:
            return None
        pattern = _PATTERNS[self.time_format] + (_HOURS if self.hour_key else "")
        try:
            wall = datetime.strptime(f"{text}{hour}+0000", f"{pattern}%z").replace(tzinfo=None)
        except ValueError:
            return None
        period = self._period(wall)
        named = dict(period.values)
        is_same = named[self.time_key] == text and named.get(self.hour_key, "") == hour
        return period if is_same and self._is_there(period, wall) else None

    def _period(self, wall: datetime) -> Period:
        values = [(self.time_key, wall.strftime(_PATTERNS[self.time_format]))]
        if self.hour_key:
            values.append((self.hour_key, wall.strftime(_HOURS)))
        return Period(self._instant(wall), self._instant(wall + self.step), tuple(values))

    def _instant(self, wall: datetime) -> datetime:
        """Return a wall time's first instant; one that daylight saving leaves out is the leap's."""
        return wall.replace(tzinfo=self.zone).astimezone(UTC)

    def _is_there(self, period: Period, wall: datetime) -> bool:
        if period.end <= period.start:
            return False
        # A day that lacks its first hour is a day all the same.
        back = period.start.astimezone(self.zone).replace(tzinfo=None)
        return back == wall or not self.is_hourly


def _floor(local: datetime, *, hourly: bool) -> datetime:
    wall = local.replace(tzinfo=None, minute=0, second=0, microsecond=0, fold=0)
    return wall if hourly else wall.replace(hour=0)
