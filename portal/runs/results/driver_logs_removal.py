"""Removes captured logs of drivers from this host once their runs ended long enough ago.

With a log goes what its program left beside it: the packages for a cluster, and its heartbeat.
Only files whose name is a run's id and attempt, in the folder of logs itself, of runs that the
database knows as ended. Whatever else lies there stays: on doubt a person removes it.
"""

import logging
import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.conf import settings

from portal.runs.domain import FINAL
from portal.runs.models import Run

_log = logging.getLogger(__name__)
_NAME = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[1-9]\d*\.(?:log|packages\.zip|beat)"
)
# A run is looked into while people still ask why it failed.
LEAST = timedelta(days=2)
MOST = 500
"""At most so many files a call."""
_CHUNK = 500


def driver_logs_kept() -> timedelta:
    """Return how long a driver's log stays after the end of its run."""
    return max(timedelta(days=settings.LAKEWARDEN_DRIVER_LOG_DAYS), LEAST)


def is_log_kept(run: Run, *, now: datetime) -> bool:
    """Whether the log of a run's driver is still kept, if there ever was one."""
    return run.finished_at is None or run.finished_at >= now - driver_logs_kept()


def driver_logs_trim(folder: Path, *, now: datetime) -> int:
    """Remove old logs and what is beside them from a folder; returns how many files.

    Safe to repeat, and by two at once. A file that cannot be removed is logged, stays and is tried
    again.
    """
    before = now - driver_logs_kept()
    n_removed = 0
    old = _old(folder, before=before)
    while names := list(islice(old, _CHUNK)):
        of_run = {UUID(_run_of(name)) for name in names}
        ended = Run.objects.filter(pk__in=of_run, state__in=FINAL, finished_at__lt=before)
        over = {str(key) for key in ended.values_list("pk", flat=True)}
        for name in names:
            if _run_of(name) not in over:
                continue
            try:
                (folder / name).unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                _log.warning("file %s stays: %s", name, error)
                continue
            n_removed += 1
            if n_removed == MOST:
                return n_removed
    return n_removed


def _old(folder: Path, *, before: datetime) -> Iterator[str]:
    """Give the names of files that nobody wrote into since; a link is none."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if not _NAME.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            try:
                written = entry.stat(follow_symlinks=False).st_mtime
            except FileNotFoundError:
                continue
            if written < before.timestamp():
                yield entry.name


def _run_of(name: str) -> str:
    return name[:36]
