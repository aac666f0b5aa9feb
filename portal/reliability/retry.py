"""Decides when something that failed is tried again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# Bounded before it is doubled, so that no number of failures overflows.
_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """First wait, longest wait, and how often at most; None never gives up."""

    first: timedelta = timedelta(seconds=2)
    longest: timedelta = timedelta(minutes=5)
    most_tries: int | None = 8


def backoff(n_failures: int, *, first: timedelta, longest: timedelta) -> timedelta:
    """Return the wait after so many failures in a row: `first`, then twice as long each time."""
    doublings = max(0, n_failures - 1)
    if doublings >= _MOST_DOUBLINGS:
        return longest
    return min(longest, first * int(2**doublings))


def retry_at(n_tries: int, *, now: datetime, lot: float, policy: RetryPolicy) -> datetime | None:
    """Return when to try again after so many tries; None gives up.

    `lot` (from 0 up to 1) spreads those that failed together; half of the wait is certain.
    """
    if policy.most_tries is not None and n_tries >= policy.most_tries:
        return None
    wait = backoff(n_tries, first=policy.first, longest=policy.longest)
    return now + wait * (0.5 + lot / 2)
