"""Cleans up after dead workers: claims, lost messages, half-sent notifications, old outbox rows."""

import logging
from datetime import datetime

from portal.notices.services import notices_unstick
from portal.runs.execution.takeover import watch
from portal.runs.outbox.services import outbox_forget

_log = logging.getLogger(__name__)


def watchdog(now: datetime) -> None:
    """Take over, unstick, tidy. Safe to run at any moment and twice at once."""
    n_moved = watch(now=now)
    n_stuck = notices_unstick(now)
    outbox_forget(now)
    if n_moved or n_stuck:
        _log.warning("took over %d runs, freed %d notices", n_moved, n_stuck)
