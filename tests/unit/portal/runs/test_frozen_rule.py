"""When a silent application is taken for frozen, and when it is only slow."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.runs.domain import Silence, is_frozen

SEEN = datetime(2026, 3, 1, tzinfo=UTC)
LIMIT = timedelta(seconds=60)


@pytest.mark.parametrize(
    ("seconds", "watched", "used", "is_ended"),
    [
        (61, 40, 0.0, True),
        (59, 39, 0.0, False),  # within its limit
        (300, 0, 0.0, False),  # seen for the first time: the portal may have slept, not the driver
        (61, 40, 0.7, True),  # an idle JVM's own timers
        (61, 40, 40.0, False),  # collects garbage
        (599, 580, 580.0, False),
        (600, 580, 580.0, True),
    ],
)
def test_only_what_neither_speaks_nor_computes_is_ended(
    seconds: float, watched: float, used: float, is_ended: bool
) -> None:
    silence = Silence("driver", seconds, 5.0, SEEN)
    now = SEEN + timedelta(seconds=watched)
    assert is_frozen(silence, cpu=5.0 + used, limit=LIMIT, now=now) is is_ended
