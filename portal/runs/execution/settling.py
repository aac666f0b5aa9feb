"""Ends a run however its application ended: settles the lake, ingests the result, closes it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.audit.services import audit_record
from portal.lake.errors import DataSafetyError, ExternalFailure, PortalError, RuleViolation
from portal.runs.claims.services import beating, run_move
from portal.runs.domain import (
    FINAL,
    HOST_GONE_GRACE,
    TAKEN_OVER,
    Ending,
    RunState,
    end_state,
)
from portal.runs.execution.applications import (
    end_on_cluster,
    has_driver_elsewhere,
    is_known_to_cluster,
)
from portal.runs.execution.processes import find_by_tag
from portal.runs.execution.submitted import lake_of
from portal.runs.kinds import registry as run_kinds
from portal.runs.kinds.hooks import engage_emergency_stop
from portal.runs.kinds.registry import RunKind
from portal.runs.kinds.secrets import job_secrets
from portal.runs.models import Run
from portal.runs.outbox.services import outbox_drop, publish_run
from portal.runs.records.driver_logs import last_driver_lines
from portal.runs.records.logs import line_of_job, run_log, run_log_many
from portal.runs.records.spools import open_spool
from portal.spark import launch
from portal.spark.masters.refusals import refusal_in, service_refused_in
from portal.spark.masters.settings import has_cluster
from portal.spark.process_table import host_identity, host_name

SETTLE_AGAIN = timedelta(seconds=30)
MAX_SETTLES = 5
# Fewer, so that some are left for what the run itself needs.
_YARN_TRIES = 3
_TAIL_LINES = 40


def run_settle(run: Run, kind: RunKind, *, holder: str) -> None:
    """Settle, ingest and close a run whose settling this worker has claimed.

    Every part is safe to repeat: a worker that dies leaves SETTLING, the next one does it again.
    """
    now = timezone.now()
    is_unchecked = kind.acting
    try:
        with beating(run, holder=holder):
            _end_unstored(run, now=now)
            _end_on_cluster(run, now=now)
            manifest = manifest_of(run)
            _settle_lake(run, kind)
            is_unchecked = False
            kind.ingest(run, manifest)
    except DataSafetyError as error:
        fail_unsafe(run, error, now=now)
    except ExternalFailure as error:
        # A wrong key or right may be corrected soon, so a run that acts is tried some times.
        may_pass = error.retryable or is_unchecked
        goes_on = kind.acting and error.retryable
        if goes_on or (may_pass and run.n_settles < MAX_SETTLES):
            run_settle_later(run, error.message, now=now)
        else:
            run_give_up(run, error.as_dict(), acting=is_unchecked, now=now)
    except PortalError as error:
        run_give_up(run, error.as_dict(), acting=is_unchecked, now=now)
    else:
        _end(run, kind, manifest, now=timezone.now())


def run_settle_again(run: Run, kind: RunKind, *, by: str, now: datetime) -> None:
    """Settle a run that ended although data was in danger, once a person has repaired the lake.

    Its state stays; what is settled now is taken in. Twice = the same.

    Raises:
        RuleViolation: `run.not_final`, the run has not ended and is settled by itself.
        DataSafetyError: something is still in danger.
    """
    if run.state not in FINAL:
        raise RuleViolation(
            "run.not_final", f"The run is {run.state}: it is settled by itself. Wait for its end."
        )
    _settle_lake(run, kind)
    kind.ingest(run, manifest_of(run))
    run_log(run, f"Settled again by {by}.", now=now)
    audit_record(
        "run.settled_again",
        actor=by,
        lake=run.lake,
        object_type="run",
        object_id=str(run.pk),
        data={"kind": run.kind},
        now=now,
    )


def manifest_of(run: Run) -> dict[str, Any]:
    """Return how the run's work ended: by its manifest, its error, or its silence (`died`)."""
    if run.error is not None:
        return {"outcome": "failed", "error": run.error, "result": {}, "log": []}
    if run.result is not None:
        return {"outcome": "done", "error": None, "result": run.result, "log": []}
    manifest = open_spool(run).read_manifest() if run.spool else None
    if manifest is not None and _was_taken_over(run, manifest):
        manifest = None
    if manifest is not None and not _has_no_session(manifest):
        return manifest
    tail = _tail(run)
    if refusal := _refusal_of(run, manifest, tail):
        return {"outcome": "failed", "error": refusal.as_dict(), "result": {}, "log": tail}
    if manifest is not None:
        return manifest
    outcome = "cancelled" if run.cancel_requested_by else "died"
    return {"outcome": outcome, "error": None, "result": {}, "log": tail}


def _was_taken_over(run: Run, manifest: dict[str, Any]) -> bool:
    """Whether a driver ended because its host seemed gone: as one that died it is tried again."""
    if manifest["outcome"] != "cancelled" or run.cancel_requested_by:
        return False
    return open_spool(run).read_control().get("by") == TAKEN_OVER


def _refusal_of(
    run: Run, manifest: Mapping[str, Any] | None, tail: Sequence[str]
) -> ExternalFailure | None:
    """Return why a cluster refused the application, or its driver a service of the cluster."""
    if run.cancel_requested_by:
        return None
    words = [str(manifest["error"].get("message", ""))] if manifest else []
    # Other words of a job that has begun are no refusal, whatever they look like.
    if run.progress_n:
        return service_refused_in(words)
    words += tail
    return refusal_in(words) if has_cluster(lake_of(run)) else service_refused_in(words)


def _has_no_session(manifest: dict[str, Any]) -> bool:
    """Whether a driver got no session of Spark: on YARN's client master its refusal is told so."""
    return (manifest.get("error") or {}).get("code") == "spark.failed"


def run_give_up(run: Run, error: dict[str, Any], *, acting: bool, now: datetime) -> None:
    """End a run that cannot be settled; one that acts leaves the lake unchecked: emergency stop."""
    if acting:
        fail_unsafe(run, DataSafetyError(error["code"], error["message"]), now=now)
    else:
        _close(run, RunState.FAILED, error=error, now=now)


def fail_unsafe(run: Run, error: DataSafetyError, *, now: datetime) -> None:
    """Data could be lost: the emergency stop first, then the run's end. Never tried again."""
    engage_emergency_stop(run.lake, run_id=str(run.pk), reason=error.message, now=now)
    _close(run, RunState.FAILED, error=error.as_dict(), now=now)


def run_settle_later(run: Run, reason: str, *, now: datetime) -> None:
    """Leave a run in SETTLING and have it tried again in half a minute."""
    again = now + SETTLE_AGAIN
    with transaction.atomic():
        n_changed = Run.objects.filter(pk=run.pk, epoch=run.epoch, state=RunState.SETTLING).update(
            lease_owner="", lease_until=again, message=reason[:500]
        )
        if n_changed:
            publish_run(run, now=now, not_before=again)
            run_log(run, f"Settling again in 30 s: {reason}", now=now, level="warning")
    run.refresh_from_db()


def _end_unstored(run: Run, *, now: datetime) -> None:
    """End an application that nobody follows: it was never stored, or its host seemed gone.

    Raises:
        ExternalFailure: `run.elsewhere`, retryable: only its own host can say whether there is one.
    """
    if run.pid is not None or not run.tag:
        return
    if run.host != host_identity():
        if run.settling_at is not None and now < run.settling_at + HOST_GONE_GRACE:
            raise ExternalFailure(
                "run.elsewhere",
                f"{host_name(run.host)} may have started the run; it gets a minute to end it.",
                service="spark",
                retryable=True,
            )
        return
    launched = find_by_tag(run.tag)
    if launched is not None:
        launch.kill(launched)
        run_log(run, "Its application, which nobody followed, was ended.", now=now, level="warning")


def _end_on_cluster(run: Run, *, now: datetime) -> None:
    """End what a cluster still has of the run, and remove the passwords that it did not take.

    Of a driver that died on this host an application may be left in the queue, where it keeps a
    place until it is started and finds no driver. It changes nothing, so that a cluster without an
    answer holds the run up for some tries only.
    """
    if not run.tag:
        return
    if has_driver_elsewhere(run):
        _end_applications(run, now=now)
        if run.spool:
            open_spool(run).forget_environment()
            _remove_uploads(run, now=now)
    elif is_known_to_cluster(run) and not _has_ended_by_itself(run):
        try:
            _end_applications(run, now=now)
        except ExternalFailure as error:
            if error.retryable and run.n_settles < _YARN_TRIES:
                raise
            run_log(
                run, f"Its application was not ended: {error.message}", now=now, level="warning"
            )


def _remove_uploads(run: Run, *, now: datetime) -> None:
    """Remove what was uploaded for the driver; what stays is told, and is nobody's loss."""
    spool = open_spool(run)
    try:
        spool.remove_uploads()
    except PortalError as error:
        words = f"{spool.uploads} stays and may be removed by hand: {error.message}"
        run_log(run, words, now=now, level="warning")


def _end_applications(run: Run, *, now: datetime) -> None:
    if ended := end_on_cluster(run):
        run_log(run, f"The cluster was asked to end {', '.join(ended)}.", now=now, level="warning")


def _has_ended_by_itself(run: Run) -> bool:
    """Whether the driver came to the end at which it ends its application, too."""
    manifest = open_spool(run).read_manifest() if run.spool else None
    return manifest is not None and not _has_no_session(manifest)


def _settle_lake(run: Run, kind: RunKind) -> None:
    try:
        kind.settle(run)
    except (DataSafetyError, ExternalFailure):
        raise
    except PortalError as error:
        if not kind.acting:
            raise
        # An acting run that cannot be settled leaves the lake in a state nobody has checked.
        raise DataSafetyError("run.unsettled", error.message, cause=error.code) from error


def _end(run: Run, kind: RunKind, manifest: dict[str, Any], *, now: datetime) -> None:
    error = manifest.get("error")
    outcome = manifest["outcome"]
    if goes_back_to_wait(run, kind, manifest):
        _again(run, error, now=now)
        return
    run_log_many(run, [line_of_job(str(text)) for text in manifest.get("log", [])], now=now)
    if error and error.get("kind") == DataSafetyError.__name__:
        fail_unsafe(run, DataSafetyError(error["code"], error["message"]), now=now)
        return
    is_retryable = not kind.acting and is_worth_retrying(error or {})
    target = end_state(
        Ending(
            outcome=None if outcome == "died" or is_retryable else outcome,
            has_error=bool(error) and not is_retryable,
            is_cancel_asked=bool(run.cancel_requested_by),
            epoch=run.epoch,
            attempts=kind.attempts,
        )
    )
    if target is RunState.QUEUED:
        _again(run, error, now=now)
        return
    if outcome == "died" and not error:
        error = {
            "code": "run.died",
            "message": "The application ended without a result. The log shows its last lines.",
            "fields": {},
        }
    _close(run, target, error=error, now=now, result=manifest.get("result"))


def goes_back_to_wait(run: Run, kind: RunKind, manifest: Mapping[str, Any]) -> bool:
    """Whether a run was stopped before it began, and is queued again until it may start.

    Only what ended before an application was submitted: that one could have done something.
    """
    error = manifest.get("error")
    if not error or run.submitted_at is not None or run.cancel_requested_by:
        return False
    return kind.must_wait(error)


def is_worth_retrying(error: dict[str, Any]) -> bool:
    """Say whether an error came from outside and may be gone the next time."""
    return str(error.get("fields", {}).get("retryable", "")) == "True"


def _again(run: Run, error: dict[str, Any] | None, *, now: datetime) -> None:
    reason = error["message"] if error else "The application ended without a result."
    again = now + SETTLE_AGAIN * run.epoch
    with transaction.atomic():
        run_move(
            run,
            RunState.QUEUED,
            error=None,
            lease_owner="",
            lease_until=None,
            message=reason[:500],
            n_messages=0,
        )
        publish_run(run, now=now, not_before=again)
        run_log(run, f"Trying again: {reason}", now=now, level="warning")


def _close(
    run: Run,
    target: RunState,
    *,
    error: dict[str, Any] | None,
    now: datetime,
    result: dict[str, Any] | None = None,
) -> None:
    with transaction.atomic():
        run_move(
            run,
            target,
            is_routine=run.is_routine and target is not RunState.FAILED,
            finished_at=now,
            lease_owner="",
            lease_until=None,
            error=error,
            result=result,
            message=(error or {}).get("message", "")[:500],
        )
        outbox_drop(run)
        run_log(run, _last_words(target, error), now=now, level="error" if error else "info")
        audit_record(
            f"run.{target.lower()}",
            actor="lakewarden",
            lake=run.lake,
            object_type="run",
            object_id=str(run.pk),
            data={"kind": run.kind, "error": (error or {}).get("code", "")},
            now=now,
        )


def _last_words(target: RunState, error: dict[str, Any] | None) -> str:
    if error is None:
        return {RunState.DONE: "Done.", RunState.CANCELLED: "Cancelled."}.get(target, "Failed.")
    return f"{error['message']} ({error['code']})"


def _tail(run: Run) -> list[str]:
    """Return the end of the driver's log, where this host has it, without secrets."""
    try:
        return last_driver_lines(run, n_lines=_TAIL_LINES, secrets=job_secrets(run))
    except PortalError as error:
        return [
            f"The driver's last lines are left out: its secrets cannot be told. {error.message}"
        ]


def will_try_again(kind: run_kinds.RunKind, run: Run, manifest: dict[str, Any]) -> bool:
    """Whether the platform gives the run another epoch, so that its plan is not at its end."""
    error = manifest.get("error")
    if goes_back_to_wait(run, kind, manifest):
        return True
    is_retryable = not kind.acting and is_worth_retrying(error or {})
    died = manifest["outcome"] == "died" or is_retryable
    ending = Ending(
        outcome=None if died else manifest["outcome"],
        has_error=bool(error) and not is_retryable,
        is_cancel_asked=bool(run.cancel_requested_by),
        epoch=run.epoch,
        attempts=kind.attempts,
    )
    return end_state(ending) is RunState.QUEUED
