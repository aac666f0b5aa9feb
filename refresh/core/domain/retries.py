"""Decides when a failed statement is retried."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """First wait, longest wait, and how often at most; None never gives up."""

    first: timedelta = timedelta(seconds=2)
    longest: timedelta = timedelta(minutes=5)
    most_tries: int | None = 8


def retry_at(n_tries: int, *, now: datetime, lot: float, policy: RetryPolicy) -> datetime | None:
    """Say when to try again after so many tries; None gives up, and the sweep looks at the table.

    `lot` (from 0 up to 1) spreads those that failed together; half of the wait is certain.
    """
    if policy.most_tries is not None and n_tries >= policy.most_tries:
        return None
    wait = policy.longest
    doublings = max(0, n_tries - 1)
    # Bounded before it is doubled, so that no number of tries overflows.
    if doublings < 32:
        wait = min(policy.longest, policy.first * 2**doublings)
    return now + wait * (0.5 + lot / 2)
