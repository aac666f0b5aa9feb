"""Schedules polls of all Iceberg tables of a lake: each hour, and sooner after a failure.

A metastore that is being restarted is back within minutes, so the first failure is tried again
soon; one that stays away is asked less and less often, and never less than each hour.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.reliability.retry import backoff

EVERY = timedelta(hours=1)
FIRST_RETRY = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Polled:
    """One poll that has ended: when it was asked for and ended, and whether it failed."""

    requested_at: datetime
    ended_at: datetime
    is_failed: bool


def retry_after(n_failures: int) -> timedelta:
    """Give how long to wait after so many failures in a row: 2, 4, 8 ... minutes, at most EVERY."""
    return backoff(n_failures, first=FIRST_RETRY, longest=EVERY)


def next_poll_at(newest_first: Iterable[Polled]) -> datetime | None:
    """Say when the next poll is due by the ended ones; None: there was none, so at once.

    One that somebody cancelled counts as done: it is not forced on them again.
    """
    n_failures, ended_at = 0, None
    for one in newest_first:
        if not one.is_failed:
            return (
                one.requested_at + EVERY if ended_at is None else ended_at + retry_after(n_failures)
            )
        n_failures += 1
        ended_at = ended_at or one.ended_at
    return None if ended_at is None else ended_at + retry_after(n_failures)
