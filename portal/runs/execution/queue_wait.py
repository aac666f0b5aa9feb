"""Notes for what a run waits that its cluster has accepted and not started, until a limit is over.

The run's message says queue, time and reason; its log says each reason once.
"""

from datetime import datetime, timedelta

from portal.access.lakes import get_lake
from portal.lake.counts import count_words
from portal.lake.errors import ExternalFailure
from portal.runs.execution.applications import applications_of, is_known_to_cluster
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.spark.masters.application import Application

_WAITS = "Waits in "


def note_wait(run: Run, kind: RunKind, *, now: datetime) -> ExternalFailure | None:
    """Note what the application of a run waits for; return the error once it waited too long.

    Twice is safe. A job that has begun waits for no queue, and nobody is asked.

    Raises:
        ExternalFailure: the cluster does not answer, so that nobody can say.
    """
    if run.progress_n or not is_known_to_cluster(run):
        return None
    waiting = [one for one in applications_of(run)[-1:] if one.waits_for]
    if not waiting:
        _end_note(run, now=now)
        return None
    application = waiting[0]
    _note(run, application, now=now)
    limit = _limit(run, kind)
    since = now - run.submitted_at if run.submitted_at else timedelta()
    if application.waited < limit and since < kind.longest:
        return None
    return ExternalFailure(
        "spark.queue_wait",
        f"The run waited in {application.place} for {_words(limit)} and was ended: "
        f"{application.waits_for}. Make room there, or let runs wait longer (queue_wait_minutes "
        "of lakes.json); on YARN, spark_queues can name another queue.",
        service="spark",
        retryable=False,
    )


def _limit(run: Run, kind: RunKind) -> timedelta:
    minutes = get_lake(run.lake).queue_wait_minutes
    return min(timedelta(minutes=minutes), kind.longest) if minutes else kind.longest


def _note(run: Run, application: Application, *, now: datetime) -> None:
    place, reason = application.place, application.waits_for
    if reason not in run.message:
        run_log(run, f"{_WAITS}{place}: {reason}.", now=now)
    _say(run, f"{_WAITS}{place} for {_words(application.waited)}: {reason}.")


def _end_note(run: Run, *, now: datetime) -> None:
    """Take the note of a wait back: the driver starts up, or the application ended in the queue."""
    if run.message.startswith(_WAITS):
        run_log(run, "It waits no longer.", now=now)
        _say(run, "")


def _say(run: Run, words: str) -> None:
    if run.message != words[:500]:
        Run.objects.filter(pk=run.pk, epoch=run.epoch).update(message=words[:500])
        run.message = words[:500]


def _words(time: timedelta) -> str:
    minutes = int(time.total_seconds() // 60)
    return count_words(minutes, "minute") if minutes else "less than a minute"
