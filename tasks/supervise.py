"""Polls this host's running applications every 10 s, without the broker."""

import logging
from datetime import datetime

from portal.lake.errors import PortalError, StaleState
from portal.runs.execution.polling import run_poll, runs_here
from portal.runs.models import Run
from portal.runs.records.logs import run_bound

_log = logging.getLogger(__name__)


def supervise(now: datetime) -> None:
    """Poll every application of this host; one that fails does not keep the others waiting."""
    for run in runs_here():
        with run_bound(run):
            _poll(run, now=now)


def _poll(run: Run, *, now: datetime) -> None:
    try:
        run_poll(run, now=now)
    except StaleState:
        return  # somebody else saw its end first
    except PortalError as error:
        _log.warning("run %s: %s", run.pk, error.message)
    except Exception:
        # A kind that breaks must not keep other runs from their lease and their end.
        _log.exception("run %s (%s): its poll broke", run.pk, run.kind)
