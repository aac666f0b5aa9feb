"""Names and limits of the segments in which recorded queries wait on the portal's disk.

A segment is a file of JSON lines. Its name begins with the millisecond at which it was begun, so
that names are in the order of time, and is never used again.
"""

import re
from datetime import UTC, datetime, timedelta

SEGMENT_BYTES = 4 * 1024**2
"""From which size on a segment is closed."""
SEGMENT_AGE = timedelta(minutes=5)
"""After which it is closed, by whoever sees it first."""
MOST_SEGMENTS = 2_000
OPEN, CLOSED = ".open", ".jsonl"
_NAME = re.compile(r"(\d{13})-[0-9a-f]{32}")


def segment_name(now: datetime, random: str) -> str:
    """Return the name of a segment that is begun now; `random` is 32 hexadecimal digits."""
    return f"{int(now.timestamp() * 1000):013d}-{random}"


def is_segment(name: str) -> bool:
    """Whether a text is a segment's name, and so may be part of a path."""
    return _NAME.fullmatch(name) is not None


def is_old(name: str, now: datetime) -> bool:
    """Whether a segment is to be closed; one that was begun in the future is: a clock jumped."""
    found = _NAME.fullmatch(name)
    if found is None:
        return False
    begun = datetime.fromtimestamp(int(found[1]) / 1000, UTC)
    return not timedelta(seconds=-60) <= now - begun < SEGMENT_AGE
