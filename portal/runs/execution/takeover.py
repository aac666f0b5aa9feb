"""Handles runs whose worker died, by the watchdog's rules (journal.md J4).

Only what is known to have ended is replaced: an application that can be found is adopted, one on
a host that cannot be asked is left until its lease and another minute are over.
"""

import logging
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Q

from portal.lake.errors import PortalError, StaleState
from portal.reliability.claims import claim
from portal.runs.claims.services import run_move, run_to_settling
from portal.runs.domain import (
    HOST_GONE_GRACE,
    LEASED,
    TAKEN_OVER,
    RunState,
    publish_again_after,
)
from portal.runs.execution.applications import (
    has_driver_elsewhere,
    is_running_on_cluster,
    keep_driver_log,
)
from portal.runs.execution.launching import run_adopt, run_adopt_on_cluster
from portal.runs.execution.processes import find_by_tag
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Outbox, Run
from portal.runs.outbox.services import RUN, publish_run
from portal.runs.records.logs import run_bound, run_log
from portal.runs.records.spools import open_spool
from portal.spark.process_table import host_identity, host_name

_log = logging.getLogger(__name__)


def watch(*, now: datetime) -> int:
    """Take over what nobody holds any more and repeat lost messages; returns how many runs moved.

    Two watchdogs at once do no harm.
    """
    n_moved = sum(take_over(lake, now=now) for lake in lakes_left(now=now))
    republish(now)
    return n_moved


def lakes_left(*, now: datetime) -> list[str]:
    """Return the lakes that have runs which nobody holds any more."""
    lakes = Run.objects.filter(_left(now)).order_by("lake").values_list("lake", flat=True)
    return list(lakes.distinct())


def take_over(lake: str, *, now: datetime) -> int:
    """Take over what nobody holds any more in a lake; returns how many runs moved."""
    runs = Run.objects.filter(_left(now), lake=lake)
    return sum(_guarded(run, now=now) for run in runs)


def _left(now: datetime) -> Q:
    """Say which runs were left: the lease is over, and for a running one its host is gone."""
    is_dead = Q(lease_until=None) | Q(lease_until__lte=now)
    is_gone = Q(lease_until__lte=now - HOST_GONE_GRACE) & ~Q(host=host_identity())
    return Q(is_dead, state__in=LEASED) | Q(is_gone, state=RunState.RUNNING)


def _guarded(run: Run, *, now: datetime) -> bool:
    with run_bound(run):
        try:
            return _take_over(run, now=now)
        except StaleState:
            return False
        except PortalError as error:
            _log.warning("run %s: takeover failed: %s", run.pk, error.message)
            return False
        except DatabaseError:
            raise  # the loop closes its connection
        except Exception:
            # A run that breaks must not keep the others from being taken over.
            _log.exception("run %s: its takeover broke", run.pk)
            return False


def _take_over(run: Run, *, now: datetime) -> bool:
    match RunState(run.state):
        case RunState.CLAIMED:
            _requeue(run, now=now)
        case RunState.SUBMITTING:
            return _take_over_submitting(run, now=now)
        case RunState.RUNNING if is_running_on_cluster(run):
            run_adopt_on_cluster(run, now=now)
        case RunState.RUNNING:
            keep_driver_log(run)
            _settle_elsewhere(run, now=now)
        case _:  # SETTLING: the next worker claims it as soon as a message reaches one.
            return False
    return True


def _settle_elsewhere(run: Run, *, now: datetime) -> None:
    """Settle a run whose host seems gone; its driver may live on there and be cut off from us.

    It is told to end through its spool, and settling gives it the minute that one gets which was
    never stored. One that acts is kept from it by its fence.
    """
    if has_driver_elsewhere(run):
        _end_unheld(run, now=now)
        return
    _end_unheld(run, now=now, pid=None, pid_started=None, pgid=None)
    if run.spool and not get_kind(run.kind).acting:
        try:
            open_spool(run).write_control({"cancel": True, "by": TAKEN_OVER})
        except PortalError as error:
            _log.warning("run %s: its driver is not told to end: %s", run.pk, error.message)


def _end_unheld(run: Run, *, now: datetime, **changes: Any) -> None:
    """End the working part of a run unless its host has come back since the row was read.

    Raises:
        StaleState: `run.lost`, its host holds it.
    """
    as_read = Run.objects.filter(pk=run.pk, host=run.host, lease_until=run.lease_until)
    with transaction.atomic():
        if not claim(as_read, lease_until=None):
            raise StaleState("run.lost", f"{host_name(run.host)} holds run {run.pk} again.")
        run_log(
            run, f"{host_name(run.host)} is gone; the run is taken over.", now=now, level="warning"
        )
        run_to_settling(run, now=now, **changes)


def _requeue(run: Run, *, now: datetime) -> None:
    """Nothing was started yet, so another worker begins again; a run that kills workers ends."""
    if run.epoch > get_kind(run.kind).attempts:
        error = {
            "code": "run.worker_died",
            "message": f"{run.epoch} workers died on this run; it is not tried again.",
            "fields": {},
        }
        run_to_settling(run, now=now, error=error)
        return
    if run.cancel_requested_by:
        run_to_settling(run, now=now)
        return
    with transaction.atomic():
        run_move(run, RunState.QUEUED, lease_owner="", lease_until=None, n_messages=0)
        publish_run(run, now=now)
        run_log(run, "Its worker died; another one starts over.", now=now, level="warning")


def _take_over_submitting(run: Run, *, now: datetime) -> bool:
    """The worker died around the submit: adopt the application if it can be found."""
    if run.host != host_identity():
        if run.lease_until is not None and now < run.lease_until + HOST_GONE_GRACE:
            return False
        launched = None
    else:
        launched = find_by_tag(run.tag)
    if launched is not None:
        run_log(run, "Its worker died; the application was found again.", now=now)
        run_adopt(run, launched, now=now)
    elif is_running_on_cluster(run):
        run_adopt_on_cluster(run, now=now)
    else:
        run_log(run, "Its worker died before the start.", now=now, level="warning")
        run_to_settling(run, now=now)
    return True


def republish(now: datetime) -> None:
    """Repeat the messages of runs that wait.

    A message may be lost with the broker; the row is not, so it is simply said again.
    """
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    waiting = Run.objects.filter(free, state__in=[RunState.QUEUED, RunState.SETTLING])
    pending = set(
        Outbox.objects.filter(topic=RUN, published_at=None).values_list("row_id", flat=True)
    )
    for run in waiting:
        last = run.last_published_at or run.queued_at
        if str(run.pk) not in pending and last + publish_again_after(run.n_messages) <= now:
            with transaction.atomic():
                publish_run(run, now=now)
