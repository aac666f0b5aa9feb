"""Cleans up after dead workers: claims, lost messages, half-sent notifications, old outbox rows."""

import logging
from datetime import datetime

from portal.notices.services import notices_unstick
from portal.runs.execution.takeover import lakes_left, republish, take_over
from portal.runs.outbox.services import outbox_forget
from tasks.each_lake import EachLake

_log = logging.getLogger(__name__)
_lakes = EachLake("watchdog")


def watchdog(now: datetime) -> None:
    """Take over, unstick, tidy. Safe to run at any moment and twice at once."""
    # A takeover asks the lake's cluster and reads its spool, and either may hang.
    _lakes.turn(lakes_left(now=now), lambda lake: _take_over(lake, now=now))
    republish(now)
    n_stuck = notices_unstick(now)
    outbox_forget(now)
    if n_stuck:
        _log.warning("freed %d notices", n_stuck)


def _take_over(lake: str, *, now: datetime) -> None:
    if n_moved := take_over(lake, now=now):
        _log.warning("took over %d runs", n_moved)
