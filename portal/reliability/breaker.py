"""Circuit breaker: decides when a failing system may be called again.

After some failures in a row nobody asks for a while; then one may try, and what comes of it
decides. A trial that never reports counts as given up after its own time.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from portal.reliability.retry import backoff


class BreakerState(StrEnum):
    """Whether it may be asked."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """How many failures open it, for how long at first and at most, and how long a trial lasts."""

    threshold: int = 3
    pause: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(minutes=2)
    trial: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Breaker:
    """The row that is stored; a new one is closed."""

    n_failed: int = 0
    n_opened: int = 0
    open_until: datetime | None = None
    trial_until: datetime | None = None

    def state(self, now: datetime) -> BreakerState:
        """Say how it stands."""
        if self.open_until is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now < self.open_until else BreakerState.HALF_OPEN

    def allows(self, now: datetime) -> bool:
        """Whether a call may begin now."""
        state = self.state(now)
        if state is BreakerState.HALF_OPEN:
            return self.trial_until is None or now >= self.trial_until
        return state is BreakerState.CLOSED


def started(breaker: Breaker, *, now: datetime, policy: BreakerPolicy) -> Breaker:
    """Note that a call begins; half open, this is the one trial."""
    if breaker.state(now) is BreakerState.HALF_OPEN:
        return replace(breaker, trial_until=now + policy.trial)
    return breaker


def succeeded(breaker: Breaker, *, now: datetime) -> Breaker:
    """Close it; the late success of a call from before it opened proves nothing."""
    return breaker if breaker.state(now) is BreakerState.OPEN else Breaker()


def failed(breaker: Breaker, *, now: datetime, policy: BreakerPolicy) -> Breaker:
    """Count a failure; while open, late failures of calls from before change nothing."""
    state = breaker.state(now)
    if state is BreakerState.OPEN:
        return breaker
    n_failed = breaker.n_failed + 1
    if state is BreakerState.CLOSED and n_failed < policy.threshold:
        return replace(breaker, n_failed=n_failed)
    pause = backoff(breaker.n_opened + 1, first=policy.pause, longest=policy.longest)
    return Breaker(n_failed, breaker.n_opened + 1, now + pause)
