"""Decides when a table is next inspected, and when a missing partition is given up."""

from collections.abc import Sequence
from datetime import datetime, timedelta

SOON = timedelta(minutes=5)
LATER = timedelta(hours=1)
# What is this late comes by hand, if at all; it stays on the page as it was last seen.
GIVEN_UP = timedelta(days=35)
FORGOTTEN = timedelta(days=400)
_FRESH = timedelta(days=2)


def next_inspection(
    pending_ends: Sequence[datetime], *, next_end: datetime, now: datetime
) -> datetime:
    """Return the next look: soon while something young is expected, hourly while something old is.

    Otherwise when the next period ends.
    """
    newest = max(pending_ends, default=None)
    if newest is None:
        return max(next_end, now + SOON)
    expected = now + (SOON if now - newest < _FRESH else LATER)
    return max(min(expected, next_end), now + SOON)
