"""Performs the next step of a run.

The one function behind the worker's task and the inline drive.

This is the outer door of background work: here, and nowhere below, unexpected errors are caught.
"""

import logging
from datetime import datetime
from uuid import UUID

from django.db import OperationalError
from django.utils import timezone

from portal.lake.errors import PortalError, StaleState
from portal.log_context import bound
from portal.runs.claims.services import run_claim, run_claim_settling, run_to_settling
from portal.runs.domain import RunState
from portal.runs.execution.launching import run_execute, run_submit
from portal.runs.execution.settling import MAX_SETTLES, run_give_up, run_settle, run_settle_later
from portal.runs.kinds.hours import run_start_wait
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.records.logs import run_bound

_log = logging.getLogger(__name__)


def run_step(run_id: UUID | str, *, holder: str) -> RunState | None:
    """Do what the run needs now: claim and start it, or settle it. Gives the state it is in then.

    Safe to call twice at once and for a run that needs nothing.
    """
    with bound(run=str(run_id)):
        run = None if _waits(run_id) else run_claim(run_id, holder=holder, now=timezone.now())
        if run is not None:
            with run_bound(run):
                _start(run, holder=holder)
        settling = run_claim_settling(run_id, holder=holder, now=timezone.now())
        if settling is not None:
            with run_bound(settling):
                _finish(settling, holder=holder)
        state = Run.objects.filter(pk=run_id).values_list("state", flat=True).first()
    return RunState(state) if state else None


def _waits(run_id: UUID | str) -> bool:
    """Whether a queued run must wait before it starts; the watchdog's hints ask again."""
    run = Run.objects.filter(pk=run_id, state=RunState.QUEUED).first()
    return run is not None and bool(run_start_wait(run, now=timezone.now()))


def _start(run: Run, *, holder: str) -> None:
    now = timezone.now()
    try:
        kind = get_kind(run.kind)
        if kind.job is None:
            run_execute(run, kind, holder=holder)
        else:
            run_submit(run, kind, holder=holder, now=now)
    except StaleState as error:
        if error.code == "run.lost":
            _log.warning("run %s: %s", run.pk, error.message)
        else:
            _settle_with(run, error.as_dict(), now=now)
    except PortalError as error:
        _settle_with(run, error.as_dict(), now=now)
    except Exception as error:
        _log.exception("run %s (%s) broke", run.pk, run.kind)
        _settle_with(run, _unexpected(error), now=now)


def _finish(run: Run, *, holder: str) -> None:
    now = timezone.now()
    try:
        kind = get_kind(run.kind)
        run_settle(run, kind, holder=holder)
    except StaleState as error:
        _log.warning("run %s: %s", run.pk, error.message)
    except Exception as error:
        _log.exception("run %s (%s) broke while settling", run.pk, run.kind)
        _settle_again_or_end(run, error, now=now)


def _settle_again_or_end(run: Run, error: Exception, *, now: datetime) -> None:
    """A fault of ours may be passing; after some tries the run ends, and acting stops with it."""
    told = _unexpected(error)
    if run.n_settles < MAX_SETTLES:
        run_settle_later(run, str(told["message"]), now=now)
        return
    run.refresh_from_db()
    run_give_up(run, told, acting=get_kind(run.kind).acting, now=now)


def _settle_with(run: Run, error: dict[str, object], *, now: datetime) -> None:
    """End the working part with an error; what was prepared is settled like any other end."""
    try:
        run_to_settling(run, now=now, error=error)
    except StaleState as lost:
        _log.warning("run %s: %s", run.pk, lost.message)


def _unexpected(error: Exception) -> dict[str, object]:
    if isinstance(error, OperationalError):
        return {
            "code": "portal.database",
            "message": "The portal's database did not answer, or broke off what was under way.",
            "fields": {"service": "portal_db", "retryable": "True"},
        }
    return {
        "code": "run.unexpected",
        "message": f"The portal stopped on {type(error).__name__}. Its log has the details.",
        "fields": {},
    }
