"""Removes the result files of runs once everything in them was taken into the database.

Only kinds that say so (`RunKind.results_pass`) lose theirs, of runs that have ended, and of these
only `<spool>/<run>/<epoch>/results`: requests, manifests, plans and approved lists stay.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings

from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError, StaleState
from portal.lake.paths import LakePath
from portal.runs.domain import FINAL
from portal.runs.kinds.registry import all_kinds
from portal.runs.models import Run

_log = logging.getLogger(__name__)
# At most so many runs of a lake a call.
MOST = 20
# An application that read a result when it began is ended after a day (`RunKind.longest`).
LEAST = timedelta(days=2)


def results_trim(lake: str, *, now: datetime) -> int:
    """Remove old result files, the oldest first; return of how many runs. Safe to repeat.

    A run whose files cannot be removed is logged, stays as it is and is tried again.
    """
    config = get_lake(lake)
    n_removed = n_failed = 0
    for run in _old(lake, now=now):
        try:
            _remove(config, run)
        except PortalError as error:
            _log.warning("results of run %s stay: %s", run.pk, error.message)
            n_failed += 1
        else:
            Run.objects.filter(pk=run.pk).update(results_removed_at=now)
            n_removed += 1
        if MOST in (n_removed, n_failed):
            break
    return n_removed


def kept() -> timedelta:
    """Return how long result files stay after the end of their run."""
    return max(timedelta(days=settings.LAKEWARDEN_RESULT_DAYS), LEAST)


def _old(lake: str, *, now: datetime) -> Iterator[Run]:
    for kind in all_kinds():
        if kind.results_pass:
            ended = Run.objects.filter(
                lake=lake,
                kind=kind.name,
                state__in=FINAL,
                finished_at__lt=now - kept(),
                results_removed_at=None,
            )
            needed = kind.results_needed(lake, since=now - LEAST)
            yield from ended.exclude(pk__in=needed).order_by("finished_at")[: 2 * MOST]


def _remove(config: LakeConfig, run: Run) -> None:
    """Remove `results` of every epoch, file by file; nothing is removed as a whole tree."""
    home = config.path(config.spool).child(str(run.pk))
    fs = open_file_system(home, config=config)
    if fs.status(home) is None:
        return
    for epoch in fs.children(home):
        results = epoch.path.child("results")
        found = fs.status(results) if epoch.is_dir else None
        if found is None:
            continue
        if not found.is_dir:
            raise _no_directory(results)
        for status in reversed(list(fs.walk(results))):
            if status.is_dir:
                fs.remove_empty_directory(status.path)
            else:
                fs.remove_file(status.path)


def _no_directory(path: LakePath) -> StaleState:
    return StaleState("spool.results", f"{path} is no directory; nobody but a person removes it.")
