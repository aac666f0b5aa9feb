"""Converts a Hudi instant's name into a time.

The name says so in digits, in the time zone of the table's timeline.
"""

from datetime import UTC, datetime, tzinfo

_WITH_MILLISECONDS, _WITH_SECONDS = 17, 14


def instant_at(digits: str, zone: tzinfo) -> datetime:
    """Return an instant's time, aware and in UTC.

    Hudi's own first instants (00000000000002 and the like) are no dates: they lie before all.
    """
    try:
        found = datetime.strptime(digits[:_WITH_SECONDS], "%Y%m%d%H%M%S").replace(tzinfo=zone)
        milliseconds = int(digits[_WITH_SECONDS:_WITH_MILLISECONDS] or 0)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found.replace(microsecond=1000 * milliseconds).astimezone(UTC)


def from_milliseconds(milliseconds: int) -> datetime:
    """Return a time of the file system's clock."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
