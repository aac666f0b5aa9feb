"""Ends an emergency stop as people do: one admin proposes, another one confirms."""

from datetime import datetime

from portal.access.models import User
from portal.safety.services import stop_release_confirm, stop_release_propose


def end_stop(lake: str, first: User, second: User, *, reason: str, now: datetime) -> None:
    """Propose by the first, confirm by the second, at one instant."""
    press = stop_release_propose(lake=lake, user=first, reason=reason, now=now)
    assert press.release_id is not None
    stop_release_confirm(lake=lake, release_id=press.release_id, user=second, now=now)
