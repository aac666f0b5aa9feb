"""Instants and days: instants are UTC, days belong to the lake's own time zone.

No function here reads a clock; `now` comes in as an argument.
"""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


def day_of(instant: datetime, zone: ZoneInfo) -> date:
    """Give the day on which an aware instant falls in the lake's zone."""
    return instant.astimezone(zone).date()


def from_epoch_seconds(seconds: float) -> datetime:
    """Give the UTC instant of a metastore time (epoch seconds)."""
    return datetime.fromtimestamp(seconds, tz=UTC)
