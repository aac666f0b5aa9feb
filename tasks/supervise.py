"""Polls this host's running applications every 10 s, and holds them, without the broker."""

import logging
from collections.abc import Sequence
from datetime import datetime

from portal.lake.errors import PortalError, StaleState
from portal.runs.execution.polling import run_poll, runs_here, runs_hold
from portal.runs.execution.strays import strays_end
from portal.runs.models import Run
from portal.runs.records.logs import run_bound
from tasks.each_lake import EachLake

_log = logging.getLogger(__name__)
_lakes = EachLake("supervise")
_strays: set[str] = set()


def supervise(now: datetime) -> None:
    """Poll every application of this host; one that fails does not keep the others waiting."""
    of_lake: dict[str, list[Run]] = {}
    for run in runs_here():
        of_lake.setdefault(run.lake, []).append(run)
    _lakes.turn(of_lake, lambda lake: _poll(of_lake[lake], now=now))


def hold(now: datetime) -> None:
    """Let no other host take over what runs here, however long polls of a lake take."""
    runs_hold(now=now)


def end_strays(now: datetime) -> None:
    """End what runs here although another host has taken it over."""
    found = strays_end(_strays, now=now)
    _strays.clear()
    _strays.update(found)


def _poll(runs: Sequence[Run], *, now: datetime) -> None:
    """Poll the applications of one lake, whose spool may hang."""
    for run in runs:
        with run_bound(run):
            _poll_run(run, now=now)


def _poll_run(run: Run, *, now: datetime) -> None:
    try:
        run_poll(run, now=now)
    except StaleState:
        return  # somebody else saw its end first
    except PortalError as error:
        _log.warning("run %s: %s", run.pk, error.message)
    except Exception:
        # A kind that breaks must not keep other runs from their lease and their end.
        _log.exception("run %s (%s): its poll broke", run.pk, run.kind)
