"""Claims runs for workers. Every change of state is a conditional UPDATE on state and epoch."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from portal.lake.errors import StaleState
from portal.reliability.claims import claim
from portal.runs.domain import RunState, can_move, tag_of
from portal.runs.models import Run
from portal.runs.outbox.services import publish_run
from portal.spark.process_table import host_identity

_log = logging.getLogger(__name__)


def run_claim(run_id: UUID | str, *, holder: str, now: datetime) -> Run | None:
    """Claim a queued run: next epoch, own lease. None when it is not queued any more."""
    is_mine = claim(
        Run.objects.filter(pk=run_id, state=RunState.QUEUED),
        state=RunState.CLAIMED,
        epoch=F("epoch") + 1,
        host=host_identity(),
        lease_owner=holder,
        lease_until=now + settings.LAKEWARDEN_LEASE,
        claimed_at=now,
        tag="",
        spool="",
        submission=None,
        pid=None,
        pid_started=None,
        pgid=None,
        progress_n=0,
        silent_since=None,
        silence=None,
        submitted_at=None,
        settling_at=None,
        n_settles=0,
        error=None,
        result=None,
    )
    return Run.objects.get(pk=run_id) if is_mine else None


def run_claim_settling(run_id: UUID | str, *, holder: str, now: datetime) -> Run | None:
    """Claim a run that has to be settled; None while somebody else's claim lives."""
    settling = Run.objects.filter(pk=run_id, state=RunState.SETTLING)
    is_mine = claim(
        settling.filter(Q(lease_until=None) | Q(lease_until__lte=now)),
        lease_owner=holder,
        lease_until=now + settings.LAKEWARDEN_LEASE,
        n_settles=F("n_settles") + 1,
    )
    return Run.objects.get(pk=run_id) if is_mine else None


def run_move(run: Run, target: RunState, **changes: Any) -> None:
    """Move a run from the state and epoch it was read in; `run` then shows the new row.

    Raises:
        StaleState: somebody else moved it first.
    """
    if not can_move(RunState(run.state), target):
        raise StaleState("run.state", f"A run cannot go from {run.state} to {target}.")
    as_read = Run.objects.filter(pk=run.pk, state=run.state, epoch=run.epoch)
    if not claim(as_read, state=target, **changes):
        raise StaleState("run.lost", f"Run {run.pk} was taken over by another worker.")
    run.refresh_from_db()


def run_to_settling(
    run: Run, *, now: datetime, is_settled_next: bool = False, **changes: Any
) -> None:
    """End the working part of a run and ask a worker to settle it, in one transaction.

    A caller that settles it next asks nobody; should it die before, the watchdog's messages ask.
    """
    with transaction.atomic():
        run_move(
            run,
            RunState.SETTLING,
            settling_at=now,
            lease_owner="",
            lease_until=None,
            n_messages=0,
            **changes,
        )
        if not is_settled_next:
            publish_run(run, now=now)


def run_renew(run: Run, *, holder: str, now: datetime) -> bool:
    """Renew a claim; False when it was lost."""
    length: timedelta = settings.LAKEWARDEN_LEASE
    mine = Run.objects.filter(pk=run.pk, epoch=run.epoch, state=run.state, lease_owner=holder)
    return claim(mine, lease_until=now + length)


def next_tag(run: Run) -> str:
    """Return the tag of the run's current epoch."""
    return tag_of(str(run.pk), run.epoch)


@contextmanager
def beating(run: Run, *, holder: str) -> Iterator[None]:
    """Keep the claim alive while the block works; a lost claim shows at the next `run_move`."""
    stop = threading.Event()
    # In the caller's context, so that its lines name the run, too.
    thread = threading.Thread(
        target=copy_context().run,
        args=(_beat, run, holder, stop),
        name=f"beat-{run.pk}",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(run: Run, holder: str, stop: threading.Event) -> None:
    worked: Run = Run(pk=run.pk, epoch=run.epoch, state=run.state)
    try:
        while not stop.wait(settings.LAKEWARDEN_BEAT_SECONDS):
            try:
                if not run_renew(worked, holder=holder, now=timezone.now()):
                    return
            except (DatabaseError, InterfaceError) as error:
                # A busy database may miss a beat; the lease outlives several of them.
                _log.warning("run %s: beat failed: %s", run.pk, error)
                connection.close()  # a line that is gone stays so
    finally:
        connection.close()
