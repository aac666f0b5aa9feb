"""Instants and days: instants are UTC, days belong to the lake's own time zone.

No function here reads a clock; `now` comes in as an argument.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def day_of(instant: datetime, zone: ZoneInfo) -> date:
    """Give the day on which an aware instant falls in the lake's zone."""
    return instant.astimezone(zone).date()


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """Give the UTC instant at which a day begins in the lake's zone (safe across DST)."""
    return datetime.combine(day, time(0), tzinfo=zone).astimezone(UTC)


def from_epoch_seconds(seconds: float) -> datetime:
    """Give the UTC instant of a metastore time (epoch seconds)."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def add_days(instant: datetime, days: int) -> datetime:
    """Add whole 24-hour days, as the expiry rule counts them."""
    return instant + timedelta(days=days)
