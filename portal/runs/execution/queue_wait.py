"""Notes for what a run waits that YARN has accepted and not started, and ends it after its limit.

The run's message says queue, time and reason; its log says each reason once.
"""

from datetime import datetime, timedelta

from portal.access.lakes import get_lake
from portal.lake.counts import count_words
from portal.lake.errors import ExternalFailure
from portal.runs.execution.applications import applications_of, is_known_to_yarn
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.spark.masters.resource_manager import Application
from portal.spark.masters.waiting import reason_of

_WAITS = "Waits in YARN's queue"


def note_wait(run: Run, kind: RunKind, *, now: datetime) -> ExternalFailure | None:
    """Note what the application of a run waits for; return the error once it waited too long.

    Twice is safe. A job that has begun waits for no queue, and YARN is not asked.

    Raises:
        ExternalFailure: YARN does not answer, so that nobody can say.
    """
    if run.progress_n or not is_known_to_yarn(run):
        return None
    waiting = [one for one in applications_of(run)[-1:] if one.is_waiting]
    if not waiting:
        _forget(run, now=now)
        return None
    application = waiting[0]
    reason = reason_of(application.diagnostics)
    _note(run, application, reason, now=now)
    limit = _limit(run, kind)
    if application.waited < limit:
        return None
    return ExternalFailure(
        "yarn.queue_wait",
        f"YARN did not start the run within {_words(limit)}: {reason}. It was ended. Make room in "
        f"the queue '{application.queue}', name another one in spark_queues of lakes.json, or let "
        "runs wait longer (queue_wait_minutes).",
        service="yarn",
        retryable=False,
    )


def _limit(run: Run, kind: RunKind) -> timedelta:
    minutes = get_lake(run.lake).queue_wait_minutes
    return min(timedelta(minutes=minutes), kind.longest) if minutes else kind.longest


def _note(run: Run, application: Application, reason: str, *, now: datetime) -> None:
    if reason not in run.message:
        run_log(run, f"{_WAITS} '{application.queue}': {reason}.", now=now)
    _say(run, f"{_WAITS} '{application.queue}' for {_words(application.waited)}: {reason}.")


def _forget(run: Run, *, now: datetime) -> None:
    if run.message.startswith(_WAITS):
        run_log(run, "YARN has started its driver.", now=now)
        _say(run, "")


def _say(run: Run, words: str) -> None:
    if run.message != words[:500]:
        Run.objects.filter(pk=run.pk, epoch=run.epoch).update(message=words[:500])
        run.message = words[:500]


def _words(time: timedelta) -> str:
    minutes = int(time.total_seconds() // 60)
    return count_words(minutes, "minute") if minutes else "less than a minute"
