"""Instants and days: instants are UTC, days belong to the lake's own time zone.

No function here reads a clock; `now` comes in as an argument.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


def day_of(instant: datetime, zone: ZoneInfo) -> date:
    """Return the day on which an aware instant falls in the lake's zone."""
    return instant.astimezone(zone).date()


def from_epoch_seconds(seconds: float) -> datetime:
    """Return the UTC instant of a metastore time (epoch seconds)."""
    return datetime.fromtimestamp(seconds, tz=UTC)


MOST_APART_SECONDS = 60
"""Nothing is moved while the lake's clocks are further apart than this."""


def seconds_behind(stamps: Iterable[float], *, not_before: datetime) -> int:
    """Return by how much a clock lies behind ours at least; 0 when the stamps do not show it.

    `stamps` are its times of what surely happened after `not_before`. The newest one decides: an
    older one may be that of a transaction that took long.
    """
    return max(0, int(not_before.timestamp() - max(stamps)))
