"""The states of a ticket, and the steps that its page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class TicketState(StrEnum):
    """How far a ticket is."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    """The lake's table is being prepared."""
    RELEASED = "RELEASED"
    """The lake's table is ready: the statement may run."""
    APPLIED = "APPLIED"
    """The statement came in the log as it was announced."""
    DIFFERED = "DIFFERED"
    """Another change came, or it came before it was approved: it is decided as any other."""
    EXPIRED = "EXPIRED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"
    LAPSED = "LAPSED"
    """Nobody decided in time."""


AHEAD = frozenset({TicketState.APPROVED.value, TicketState.RELEASED.value})
"""Approved, and the statement has not come."""
OPEN = AHEAD | {TicketState.PENDING.value}
TRANSITIONS: Mapping[str, frozenset[str]] = {
    "PENDING": frozenset({"APPROVED", "REJECTED", "LAPSED", "WITHDRAWN", "DIFFERED"}),
    "APPROVED": frozenset({"RELEASED", "APPLIED", "DIFFERED", "EXPIRED", "WITHDRAWN"}),
    "RELEASED": frozenset({"APPLIED", "DIFFERED", "EXPIRED", "WITHDRAWN"}),
}
_WAY = ("PENDING", "APPROVED", "RELEASED", "APPLIED")
_TITLES = {
    "PENDING": "Requested",
    "APPROVED": "Approved",
    "RELEASED": "Lake prepared, released",
    "APPLIED": "Applied",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a ticket's way."""

    title: str
    at: datetime | None
    """When it was reached; None: it was not."""
    is_current: bool


def steps(state: str, reached: Mapping[str, datetime | None]) -> tuple[Step, ...]:
    """Return the way of a ticket; `reached` says when it came to each state."""
    return tuple(Step(_TITLES[one], reached.get(one), is_current=one == state) for one in _WAY)


def is_expired(approved_at: datetime | None, *, days: int, now: datetime) -> bool:
    """Whether the statement of an approved ticket should have come by now."""
    return approved_at is not None and now - approved_at > timedelta(days=days)
