"""Detects gaps between the stored position and the event log. Pure.

Ids of the log are handed out one by one. A missing one is an event we shall never see, but it may
also be one whose transaction commits a moment late, so a hole must stand for a while to count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

HOLE_GRACE = timedelta(seconds=30)


class AlarmKind(StrEnum):
    """Why something must be read again."""

    LOG_CLEANED = "LOG_CLEANED"
    ID_BELOW_POSITION = "ID_BELOW_POSITION"
    HOLE = "HOLE"
    UNREADABLE = "UNREADABLE"
    SUBSCRIBER_FAILED = "SUBSCRIBER_FAILED"


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing: after which id, and the sentence for people."""

    kind: AlarmKind
    event_id: int
    detail: str


@dataclass(frozen=True, slots=True)
class Step:
    """How to go on: how many of the events to take, where that leads, and what was missed."""

    n_take: int
    position: int
    gap: Gap | None = None
    hole_since: datetime | None = None


def next_step(
    ids: Sequence[int],
    *,
    position: int,
    newest: int,
    hole_since: datetime | None,
    now: datetime,
) -> Step:
    """Decide the next step from the ids after `position` and the newest id, read *before* them."""
    if newest < position:
        return Step(0, newest, _below(position, newest))
    if not ids:
        return (
            Step(0, position) if newest == position else Step(0, newest, _cleaned(position, newest))
        )
    n_unbroken = _unbroken(ids, position)
    if n_unbroken:
        return Step(n_unbroken, ids[n_unbroken - 1])
    if hole_since is None or now - hole_since < HOLE_GRACE:
        return Step(0, position, hole_since=hole_since or now)
    return Step(0, ids[0] - 1, _hole(position, ids[0]))


def _unbroken(ids: Sequence[int], position: int) -> int:
    """How many ids follow `position` one by one."""
    for index, event_id in enumerate(ids):
        if event_id != position + index + 1:
            return index
    return len(ids)


def _below(position: int, newest: int) -> Gap:
    return Gap(
        AlarmKind.ID_BELOW_POSITION,
        position,
        f"The log's newest id is {newest}, below our position {position}: the metastore was "
        "restored or replaced. Everything is read again.",
    )


def _cleaned(position: int, newest: int) -> Gap:
    return Gap(
        AlarmKind.LOG_CLEANED,
        position,
        f"Events {position + 1} to {newest} were cleaned from the log before we read them.",
    )


def _hole(position: int, first: int) -> Gap:
    return Gap(
        AlarmKind.HOLE,
        position,
        f"Events {position + 1} to {first - 1} are missing from the log.",
    )
