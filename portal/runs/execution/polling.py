"""Polls a running application for its progress, its silence and its end.

The driver beats beside its log (portal/spark/heartbeat.py), one on a cluster in its spool. One that
was launched without a heartbeat, or whose file cannot be read, is never called silent.
"""

import logging
from dataclasses import asdict
from datetime import datetime, timedelta

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from portal.lake.errors import ExternalFailure, PortalError
from portal.runs.claims.services import run_to_settling
from portal.runs.domain import SILENCE_SHOWN, RunState, Silence, is_frozen
from portal.runs.execution import applications
from portal.runs.execution.applications import has_driver_elsewhere
from portal.runs.execution.cluster_signs import cluster_sign
from portal.runs.execution.queue_wait import note_wait
from portal.runs.kinds.registry import RunKind, get_kind
from portal.runs.models import Run
from portal.runs.records.logs import Line, run_log, run_log_many
from portal.runs.records.spools import heartbeat_file, open_spool
from portal.spark.heartbeat import LAUNCH, Sign, oldest_sign
from portal.spark.process_table import cpu_seconds, host_identity
from portal.spark.spool import Progress, Spool

_log = logging.getLogger(__name__)
SUPERVISED = timedelta(seconds=60)
CANCEL_GRACE = timedelta(seconds=60)
END_GRACE = timedelta(seconds=15)
# It also waits for a heartbeat on its way, and copies its output into the spool; killed before, it
# leaves its files in YARN's staging directory.
DEPLOYED_END_GRACE = timedelta(seconds=60)
# Spark may load jars from afar before the driver's own program begins, and nothing acts so early.
_LAUNCH_LIMIT = timedelta(minutes=10)


def runs_here() -> list[Run]:
    """Return the running applications that only this host can ask after."""
    return list(Run.objects.filter(state=RunState.RUNNING, host=host_identity()))


def runs_hold(*, now: datetime) -> None:
    """Say that this host follows its applications, so that no other one takes them over.

    It asks no lake: one that hangs must not let a living host seem gone.
    """
    _hold(Run.objects.all(), now=now)


def run_hold(run: Run, *, now: datetime) -> None:
    """Say the same of one application, where no supervisor says it of all."""
    _hold(Run.objects.filter(pk=run.pk), now=now)


def _hold(runs: QuerySet[Run], *, now: datetime) -> None:
    runs.filter(state=RunState.RUNNING, host=host_identity()).update(lease_until=now + SUPERVISED)


def run_poll(run: Run, *, now: datetime) -> None:
    """Look after one application: tell it what it must know, note its progress, see its end.

    Two pollers at once do no harm: progress and the end are taken by compare-and-set.
    """
    kind = get_kind(run.kind)
    spool = open_spool(run)
    _look_after(run, kind, spool, now=now)
    is_running = _is_running(run, now=now)
    if is_running is None:  # it may be silent all the same, which pages show
        silence_note(run, kind, now=now)
        return
    if is_running:
        reason = _waited_too_long(run, kind, now=now) or _reason_killed(run, kind, spool, now=now)
        if not reason or not _killed(run, reason, now=now):
            return
        if run.error is None:  # else its end says it
            run_log(run, f"{reason}; it was killed.", now=now, level="warning")
    # What it wrote between the last look and its end.
    _look_after(run, kind, spool, now=now, is_alive=False)
    applications.keep_driver_log(run)
    run_to_settling(run, now=now)


def _killed(run: Run, reason: str, *, now: datetime) -> bool:
    """Kill an application; False, with both reasons said, where it may not have ended yet."""
    try:
        applications.kill(run)
    except ExternalFailure as error:
        _say_once(run, f"{reason.rstrip('.')}; it is killed. {error.message}", now=now)
        return False
    return True


def _is_running(run: Run, *, now: datetime) -> bool | None:
    """Whether the application goes on; None while nobody can say, and nothing is ended.

    What this host has submitted it by goes on whatever a cluster says, and can be ended.
    """
    try:
        _note_application(run, now=now)
    except ExternalFailure as error:
        _say_once(run, error.message, now=now)
    try:
        return applications.is_running(run)
    except ExternalFailure as error:
        _say_once(run, error.message, now=now)
        return None


def _waited_too_long(run: Run, kind: RunKind, *, now: datetime) -> str:
    """Note what an application waits for on its cluster; say why where it waited too long.

    That is stored as the error of the run: a cluster may take several polls to end it.
    """
    if run.error is None:
        try:
            error = note_wait(run, kind, now=now)
        except ExternalFailure as failure:
            _say_once(run, failure.message, now=now)
            return ""
        if error is None:
            return ""
        run.error = error.as_dict()
        Run.objects.filter(pk=run.pk, epoch=run.epoch, state=RunState.RUNNING).update(
            error=run.error
        )
    return str(run.error["message"])


def _note_application(run: Run, *, now: datetime) -> None:
    """Note the id that the cluster gave, once it is known."""
    if run.application_id or not applications.is_on_cluster(run):
        return
    for application in applications.applications_of(run)[-1:]:
        Run.objects.filter(pk=run.pk, epoch=run.epoch).update(application_id=application.id[:128])
        run.application_id = application.id
        run_log(run, f"It is {application.id} in {application.place}.", now=now)


def _look_after(
    run: Run, kind: RunKind, spool: Spool, *, now: datetime, is_alive: bool = True
) -> None:
    """What does not answer now, or cannot be read, is said once; the next poll asks again."""
    try:
        if is_alive:
            kind.beat(run)
        _take_progress(run, spool.progress_after(run.progress_n), now=now)
    except PortalError as error:
        _say_once(run, error.message, now=now)
    except DatabaseError:
        raise
    except Exception as error:  # else the end of its application would never be seen
        _log.exception("run %s: its beat failed", run.pk)
        _say_once(run, f"The portal cannot follow it: {type(error).__name__}: {error}", now=now)


def _say_once(run: Run, words: str, *, now: datetime) -> None:
    if run.message != words[:500]:
        Run.objects.filter(pk=run.pk, epoch=run.epoch).update(message=words[:500])
        run.message = words[:500]
        run_log(run, words, now=now, level="warning")


def _take_progress(run: Run, steps: list[Progress], *, now: datetime) -> None:
    if not steps:
        return
    last = steps[-1]
    with transaction.atomic():
        n_changed = Run.objects.filter(
            pk=run.pk, epoch=run.epoch, progress_n=run.progress_n, state=RunState.RUNNING
        ).update(
            progress_n=last.n,
            phase=last.phase[:64],
            done=last.done,
            total=last.total,
            message=last.shown[:500],
            application_id=last.application_id[:128],
        )
        if n_changed:
            lines, phase, message = [], run.phase, Progress.lasting(run.message)
            for step in steps:
                if (step.phase, step.message) != (phase, message):
                    text = f"{step.phase}: {step.message}" if step.message else step.phase
                    lines.append(Line("info", text))
                phase, message = step.phase, step.message
            run_log_many(run, lines, now=now)
    run.refresh_from_db()


def _reason_killed(run: Run, kind: RunKind, spool: Spool, *, now: datetime) -> str:
    """Say why an application must be ended; empty while it may go on."""
    if run.cancel_requested_at is not None and now - run.cancel_requested_at > CANCEL_GRACE:
        return "It did not end by itself after the cancel"
    if run.submitted_at is not None and now - run.submitted_at > kind.longest:
        return "It took longer than its kind may"
    written = _manifest_written_at(spool)
    grace = DEPLOYED_END_GRACE if has_driver_elsewhere(run) else END_GRACE
    if written is not None and now.timestamp() - written > grace.total_seconds():
        return "It did not end by itself after its last step"
    return silence_note(run, kind, now=now)


def _manifest_written_at(spool: Spool) -> float | None:
    """The manifest is the last thing a job does; a process that stays after it hangs."""
    try:
        status = spool.fs.status(spool.root.child("manifest.json"))
    except PortalError:
        return None
    return status.mtime_ms / 1000 if status is not None else None


def silence_note(run: Run, kind: RunKind, *, now: datetime) -> str:
    """Note on the run since when it is silent; return why it must be ended, empty as a rule.

    Called twice at once it changes nothing more.
    """
    sign = cluster_sign(run) if has_driver_elsewhere(run) else oldest_sign(heartbeat_file(run))
    silent = sign.silent_seconds() if sign is not None else 0.0
    if sign is None or silent < SILENCE_SHOWN.total_seconds():
        if run.silent_since is not None:
            _store(run, None, None)
            run_log(run, "The application answers again.", now=now)
        return ""
    known = _known(run, sign)
    cpu = cpu_seconds(sign.pid)
    text = f"Its {sign.part} has given no sign of life for {silent:.0f} s"
    if known is None:
        _store(run, Silence(sign.part, silent, cpu, now), now - timedelta(seconds=silent))
        run_log(run, f"{text}.", now=now, level="warning")
        return ""
    silence = Silence(sign.part, silent, known.cpu, known.seen_at)
    limit = _LAUNCH_LIMIT if sign.part == LAUNCH else kind.silence
    return text if is_frozen(silence, cpu=cpu, limit=limit, now=now) else ""


def _known(run: Run, sign: Sign) -> Silence | None:
    """Return the silence that was noticed before, if it is of the same process."""
    told = run.silence
    if told is None or told["part"] != sign.part:
        return None
    seen_at = datetime.fromisoformat(told["seen_at"])
    return Silence(told["part"], told["seconds"], told["cpu"], seen_at)


def _store(run: Run, silence: Silence | None, since: datetime | None) -> None:
    told = {**asdict(silence), "seen_at": silence.seen_at.isoformat()} if silence else None
    run.silence, run.silent_since = told, since
    Run.objects.filter(pk=run.pk, epoch=run.epoch, state=RunState.RUNNING).update(
        silence=told, silent_since=since
    )
