"""State transitions of a run, and the rule for a dead claim. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from portal.reliability.retry import backoff


class RunState(StrEnum):
    """The states of a run; the last three are final."""

    QUEUED = "QUEUED"
    CLAIMED = "CLAIMED"
    SUBMITTING = "SUBMITTING"
    RUNNING = "RUNNING"
    SETTLING = "SETTLING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


FINAL = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED})
ACTIVE = frozenset(RunState) - FINAL
LEASED = frozenset({RunState.CLAIMED, RunState.SUBMITTING, RunState.SETTLING})

TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.CLAIMED, RunState.CANCELLED}),
    # Back to QUEUED: the worker died before anything could have started.
    RunState.CLAIMED: frozenset({RunState.SUBMITTING, RunState.SETTLING, RunState.QUEUED}),
    RunState.SUBMITTING: frozenset({RunState.RUNNING, RunState.SETTLING}),
    # Whatever ended the application, the road goes through settling.
    RunState.RUNNING: frozenset({RunState.SETTLING}),
    # Back to QUEUED: the application died without a result and another epoch may try.
    RunState.SETTLING: FINAL | {RunState.QUEUED},
    RunState.DONE: frozenset(),
    RunState.FAILED: frozenset(),
    RunState.CANCELLED: frozenset(),
}

# Added where the launching host cannot be asked whether its processes ended (journal.md J4).
HOST_GONE_GRACE = timedelta(seconds=60)
TAKEN_OVER = "takeover"
"""Who asks a driver to end that another host has taken over from its own."""
FIRST_REPUBLISH = timedelta(seconds=30)
LAST_REPUBLISH = timedelta(minutes=10)


def can_move(source: RunState, target: RunState) -> bool:
    """Say whether a run may go from one state to the other."""
    return target in TRANSITIONS[source]


def is_lease_dead(lease_until: datetime | None, now: datetime) -> bool:
    """Say whether nobody holds the claim any more."""
    return lease_until is None or lease_until <= now


def tag_of(run_id: str, epoch: int) -> str:
    """Give the application tag, stored before submit so that the application can be found again."""
    return f"lw-{run_id}-{epoch}"


def run_of_tag(tag: str) -> tuple[UUID, int] | None:
    """Return the run and the epoch that a tag is of; None where it is no tag."""
    run_id, _, epoch = tag.removeprefix("lw-").rpartition("-")
    try:
        return UUID(run_id), int(epoch)
    except ValueError:
        return None


def publish_again_after(n_messages: int) -> timedelta:
    """Return how long to wait before a queued run's message is sent once more."""
    return backoff(n_messages, first=FIRST_REPUBLISH, longest=LAST_REPUBLISH)


SILENCE_SHOWN = timedelta(seconds=20)
SILENCE = timedelta(minutes=10)
# The lease of a fence: what acts must be still, or ended, by then (journal.md J4).
SILENCE_ACTING = timedelta(seconds=60)
# A process that computes is slow rather than frozen: collecting garbage, or short of cores.
SILENCE_BUSY_FACTOR = 10
BUSY_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Silence:
    """What is known of an application of which nothing has been heard.

    `cpu` is what its silent process had used at `seen_at`, when the silence was first noticed.
    """

    part: str
    seconds: float
    cpu: float
    seen_at: datetime


def is_frozen(silence: Silence, *, cpu: float, limit: timedelta, now: datetime) -> bool:
    """Decide whether a silent application is to be ended; never at the first sight of its silence.

    Within ten times its limit a process that uses its processor is left alone.
    """
    watched = (now - silence.seen_at).total_seconds()
    if watched <= 0 or silence.seconds < limit.total_seconds():
        return False
    if cpu - silence.cpu < BUSY_SHARE * watched:
        return True
    return silence.seconds >= (SILENCE_BUSY_FACTOR * limit).total_seconds()


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known when an application has ended."""

    outcome: str | None
    """`done`, `failed`, `cancelled` as the manifest says; None when there is no manifest."""
    has_error: bool
    is_cancel_asked: bool
    epoch: int
    attempts: int


def end_state(ending: Ending) -> RunState:
    """Decide where a settled run goes.

    A death without a manifest and without a cancel is tried again with the next epoch, as often as
    the kind allows; an error that was reported is never tried again.
    """
    if ending.outcome == "done" and not ending.has_error:
        return RunState.DONE
    if ending.outcome == "cancelled" or (ending.outcome is None and ending.is_cancel_asked):
        return RunState.CANCELLED
    if ending.outcome is None and not ending.has_error and ending.epoch < ending.attempts:
        return RunState.QUEUED
    return RunState.FAILED


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a kind runs by itself: daily at an hour of the lake's zone, or at a steady interval."""

    daily_at_hour: int | None = None
    every: timedelta | None = None

    def slot(self, local_now: datetime) -> str | None:
        """Return the name of the slot that `local_now` falls in; None before today's hour."""
        if self.every is not None:
            seconds = int(self.every.total_seconds())
            return f"t{int(local_now.timestamp()) // seconds * seconds}"
        if self.daily_at_hour is None or local_now.hour < self.daily_at_hour:
            return None
        return local_now.date().isoformat()
