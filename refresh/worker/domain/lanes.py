"""Estimates a statement's duration and its cost for the metastore, and chooses its lane.

Lanes keep what is slow away from what is fast. What a statement took before counts most; without a
past the number of partitions that it makes the metastore give is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import ceil
from statistics import median

from refresh.core.domain.versions import Dialect
from refresh.worker.domain.steps import Step, StepKind

_NAMES_A_CALL = 5_000
_REMEMBERED = 5
_MANY = 1_000
# How many times the expected seconds, and at least how many, others are waited for.
_WAIT = (4, 10)
_SILENT_WAIT = (2, 5)
# Failures that a front end causes without keeping anybody waiting.
_AT_ONCE = ("connection refused", "invalid port")


class Lane(IntEnum):
    """Slower lanes have higher numbers."""

    FAST = 0
    SLOW = 1
    GIANT = 2


@dataclass(frozen=True, slots=True)
class Past:
    """How long a statement of the same kind on the same table took, for how many partitions."""

    seconds: float
    n_partitions: int


@dataclass(frozen=True, slots=True)
class Pace:
    """What is assumed of a table without a past, and where the lanes part (seconds)."""

    base_seconds: float = 0.5
    seconds_a_partition: float = 0.001
    slow_from: float = 3.0
    large_from: float = 30.0


def n_loaded(step: Step, *, n_in_table: int) -> int:
    """Count the partitions that the metastore must give; a table refresh asks for all of them."""
    return n_in_table if step.kind is StepKind.TABLE else len(step.partitions)


def metastore_calls(step: Step, *, n_in_table: int, n_fes: int, dialect: Dialect) -> int:
    """Count the calls of one statement to the metastore, over all front ends, for a cold table."""
    n = n_loaded(step, n_in_table=n_in_table)
    batches = ceil(n / _NAMES_A_CALL)
    if dialect is Dialect.RESOURCES:
        # One by one: the partition and its statistics.
        return n_fes * (3 if step.kind is StepKind.TABLE else 2 * n)
    return n_fes * (3 + batches if step.kind is StepKind.TABLE else 1 + 3 * batches)


def expected_seconds(n_partitions: int, *, past: Sequence[Past], pace: Pace) -> float:
    """Expect the worst of the last few times, in proportion when there is more to load now."""
    recent = past[-_REMEMBERED:]
    if not recent:
        return pace.base_seconds + n_partitions * pace.seconds_a_partition
    return max(one.seconds * max(1.0, n_partitions / max(1, one.n_partitions)) for one in recent)


def measured(pace: Pace, others: Iterable[Past]) -> Pace:
    """Return the pace assumed of a table without a past, by what other tables took for many.

    Few partitions say nothing of the seconds that one costs. Half of the others were faster.
    """
    known = [one for one in others if one.n_partitions >= _MANY]
    if not known:
        return pace
    each = median(max(0.0, one.seconds - pace.base_seconds) / one.n_partitions for one in known)
    return replace(pace, seconds_a_partition=each)


def lane_of(seconds: float, *, pace: Pace) -> Lane:
    """Choose the lane for an expected duration."""
    if seconds >= pace.large_from:
        return Lane.GIANT
    return Lane.SLOW if seconds >= pace.slow_from else Lane.FAST


def statement_timeout(expected: float, *, most: int, is_one_silent: bool) -> int:
    """Return the seconds for which other front ends are waited for; `most` is the lane's bound.

    The bound does not reach the taker's own part, so a statement that was expected too short still
    ends; who was not waited for is repaired by a statement of its own. While a front end is known
    to be silent, nobody waits long for it.
    """
    times, least = _SILENT_WAIT if is_one_silent else _WAIT
    return max(1, min(most, max(least, ceil(expected * times))))


@dataclass(frozen=True, slots=True)
class Waited:
    """A front end during a statement: whether it was silent meanwhile, and how its part ended."""

    was_silent: bool
    failure: str | None


def is_own_pace(waited: Iterable[Waited]) -> bool:
    """Return whether a statement's duration is the table's own, and not the wait for a silent one.

    A front end that is down refuses at once, which costs nothing. One that answered the portal all
    the time and was still not done in time is slow by itself.
    """
    return all(
        not one.was_silent
        or (one.failure is not None and any(word in one.failure.lower() for word in _AT_ONCE))
        for one in waited
    )


def statement_size(*, seconds_a_partition: float, hold_seconds: float, most: int) -> int:
    """Say how many partitions one statement may name so that its lock is held for so long only.

    A partition refresh keeps every other one of its catalog waiting on each front end.
    """
    if seconds_a_partition <= 0:
        return max(1, most)
    return max(1, min(most, int(min(hold_seconds / seconds_a_partition, most))))
