"""Requests, cancels and drives runs."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_text
from portal.runs.claims.leases import new_holder
from portal.runs.domain import FINAL, RunState
from portal.runs.execution.polling import run_hold, run_poll
from portal.runs.execution.steps import run_step
from portal.runs.execution.takeover import watch
from portal.runs.kinds.registry import RunKind, get_kind
from portal.runs.models import Run
from portal.runs.outbox.services import outbox_drop, publish_run
from portal.runs.records.logs import run_log
from portal.runs.requests.selectors import get_run

_DRIVE_SECONDS = 0.5
SCHEDULE = "schedule"
"""Who requests the runs that no person asked for."""


def run_request(  # noqa: PLR0913 - the agreed interface names them all
    kind: str,
    *,
    lake: str,
    params: Mapping[str, Any],
    requested_by: str,
    reason: str = "",
    unique_key: str | None = None,
    subject: tuple[str, str] = ("", ""),
    now: datetime,
) -> Run:
    """Ask for a run: row and message in one transaction; a used unique key gives that run."""
    wanted = get_kind(kind)
    if unique_key is not None and (known := _known(unique_key)) is not None:
        return known
    try:
        with transaction.atomic():
            run = Run.objects.create(
                lake=lake,
                kind=kind,
                queue=wanted.queue,
                is_routine=wanted.is_routine,
                params=dict(params),
                requested_by=requested_by,
                reason=reason,
                unique_key=unique_key,
                subject_type=subject[0],
                subject_id=subject[1],
                queued_at=now,
            )
            publish_run(run, now=now)
            _audit(run, "run.requested", actor=requested_by, now=now, reason=reason)
    except IntegrityError:
        known = _known(unique_key) if unique_key is not None else None
        if known is None:
            raise
        return known
    return run


def run_request_scheduled(
    kind: RunKind, *, lake: str, slot: str, params: Mapping[str, Any], now: datetime
) -> Run:
    """Ask for the run of a kind in a slot of its schedule; asked again it gives the same run."""
    return run_request(
        kind.name,
        lake=lake,
        params=params,
        requested_by=SCHEDULE,
        unique_key=kind.scheduled_key(lake, slot),
        now=now,
    )


def run_cancel(run_id: UUID | str, *, user: User, reason: str = "", now: datetime) -> Run:
    """Ask a run to stop; a queued one ends at once, a running one at its next check.

    Called twice the second changes nothing.

    Raises:
        NotAllowed: neither the run's own requester nor an admin or operator.
        StaleState: it has ended already.
    """
    check_text(reason)
    run = get_run(run_id)
    if not user.is_lake_staff_of(run.lake) and user.username != run.requested_by:
        raise NotAllowed("run.cancel", "Only who asked for the run, or an operator, may cancel it.")
    if run.is_final:
        raise StaleState("run.ended", f"The run is already {run.state.lower()}.")
    if run.cancel_requested_by:
        return run
    with transaction.atomic():
        asked: dict[str, Any] = {
            "cancel_requested_by": user.username,
            "cancel_requested_at": now,
        }
        _ask_to_stop(run, **asked)
        words = f": {reason}" if reason else "."
        run_log(run, f"{user.username} asked to cancel it{words}", now=now, level="warning")
        _audit(run, "run.cancel_asked", actor=user.username, now=now, reason=reason)
    return run


def run_drive(run_id: UUID | str) -> Run:
    """Drive a run to its end in this process, by the same steps as the tasks.

    Where supervisor and workers are there too, whoever is first does a step and the other waits.
    """
    holder = new_holder()
    next_beat = 0.0
    while not (run := get_run(run_id)).is_final:
        if run.state in (RunState.QUEUED, RunState.SETTLING):
            run_step(run.pk, holder=holder)
        elif run.state == RunState.RUNNING and time.monotonic() >= next_beat:
            _poll(run)
            next_beat = time.monotonic() + min(1.0, settings.LAKEWARDEN_BEAT_SECONDS)
        else:
            watch(now=timezone.now())
            time.sleep(_DRIVE_SECONDS)
            continue
        if (after := get_run(run_id)).state == run.state and not after.is_final:
            time.sleep(_DRIVE_SECONDS)
    return run


def _ask_to_stop(run: Run, **asked: Any) -> None:
    """End a run that nobody has begun; one that a worker has reads the request from its control."""
    free = Run.objects.filter(pk=run.pk, state=RunState.QUEUED)
    if free.update(state=RunState.CANCELLED, finished_at=asked["cancel_requested_at"], **asked):
        outbox_drop(run)
    elif (
        not Run.objects.filter(pk=run.pk, cancel_requested_by="")
        .exclude(state__in=FINAL)
        .update(**asked)
    ):
        raise StaleState("run.ended", "The run has ended, or somebody else cancelled it just now.")
    run.refresh_from_db()


def _poll(run: Run) -> None:
    run_hold(run, now=timezone.now())
    try:
        run_poll(run, now=timezone.now())
    except StaleState:
        return  # another poller saw the end first


def _known(unique_key: str) -> Run | None:
    return Run.objects.filter(unique_key=unique_key).first()


def _audit(run: Run, action: str, *, actor: str, now: datetime, **data: object) -> None:
    audit_record(
        action,
        actor=actor,
        lake=run.lake,
        object_type="run",
        object_id=str(run.pk),
        data={"kind": run.kind, **data},
        now=now,
    )
