"""Tells for how long a driver on a cluster has been silent, from the counters in its spool.

Remembered by the process that polls: one that was started again counts from what it sees first.
What it has not polled for some minutes has ended, or is polled by another one, and is forgotten.
"""

import time
from dataclasses import dataclass
from uuid import UUID

from portal.lake.errors import PortalError
from portal.runs.domain import SILENCE_SHOWN
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.spark.heartbeat import DRIVER, JVM, Sign
from portal.spark.masters.spool_beat import BEAT_SECONDS

_UNANSWERED = 3 * BEAT_SECONDS
_FORGOTTEN_SECONDS = 600.0
_NOWHERE = 0  # a process id that no process of this host has


@dataclass(slots=True)
class _Seen:
    count: int
    at: float
    asked_at: float


_seen: dict[tuple[UUID, int, str], _Seen] = {}


def cluster_sign(run: Run) -> Sign | None:
    """Return the part of an application on a cluster that has been silent for longest.

    None before its first heartbeat and where none can be read: a file system that does not answer
    says nothing about the driver.
    """
    try:
        beat = open_spool(run).read_beat()
    except PortalError:
        beat = {}
    if not beat:
        for part in (DRIVER, JVM):
            _seen.pop((run.pk, run.epoch, part), None)
        return None
    driver = _last_change(run, DRIVER, beat["driver"])
    if beat.get("jvm") is not None:
        jvm = _last_change(run, JVM, beat["jvm"])
        if driver - jvm > _UNANSWERED:
            return Sign(JVM, _NOWHERE, jvm)
    return Sign(DRIVER, _NOWHERE, driver)


def is_beating(run: Run) -> bool:
    """Whether the driver on a cluster has beaten within 20 s, as far as this process has seen.

    A heartbeat that is seen for the first time counts as a fresh one.

    Raises:
        PortalError: its heartbeat cannot be read, so that nobody can say.
    """
    beat = open_spool(run).read_beat()
    if not beat:
        return False
    silent = time.monotonic() - _last_change(run, DRIVER, beat["driver"])
    return silent < SILENCE_SHOWN.total_seconds()


def _last_change(run: Run, part: str, count: int) -> float:
    now = time.monotonic()
    seen = _seen.get((run.pk, run.epoch, part))
    if seen is None:
        _forget_ended(now)
    if seen is None or seen.count != count:
        seen = _seen[run.pk, run.epoch, part] = _Seen(count, now, now)
    seen.asked_at = now
    return seen.at


def _forget_ended(now: float) -> None:
    # A list first: other threads poll the runs of other lakes.
    for key, seen in list(_seen.items()):
        if now - seen.asked_at > _FORGOTTEN_SECONDS:
            _seen.pop(key, None)
