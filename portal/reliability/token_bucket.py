"""Token bucket: limits how many calls a second a system is asked for."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Calls that a system is still good for; below nothing they must be refilled first."""

    tokens: float
    at: datetime


def refill(bucket: TokenBucket, *, now: datetime, per_second: float, most: float) -> TokenBucket:
    """Add the tokens of the time since; a clock that went back adds none."""
    seconds = max(0.0, (now - bucket.at).total_seconds())
    return TokenBucket(min(most, bucket.tokens + seconds * per_second), max(now, bucket.at))


def take(bucket: TokenBucket, tokens: float) -> TokenBucket | None:
    """Take tokens for a call; None while the bucket is empty.

    A bucket that is not empty pays any price, so that a call dearer than it can ever hold comes
    through; it is overdrawn then.
    """
    return TokenBucket(bucket.tokens - tokens, bucket.at) if bucket.tokens > 0 else None
