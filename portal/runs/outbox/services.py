"""Sends messages to the broker, although it may be unavailable when they are written."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from portal.lake.errors import ExternalFailure
from portal.reliability.retry import backoff
from portal.runs.models import Outbox, Run
from portal.runs.records.logs import run_log

RUN = "run"
KEEP_PUBLISHED = timedelta(days=1)
_FIRST_RETRY = timedelta(seconds=1)
_LAST_RETRY = timedelta(seconds=10)

Send = Callable[[Outbox], None]


class Published(NamedTuple):
    """What one turn of the relay did; `problem` is empty while the broker answers."""

    n_published: int
    problem: str


def outbox_add(
    topic: str, *, row_id: str, queue: str, now: datetime, not_before: datetime | None = None
) -> Outbox:
    """Write a message inside the caller's transaction; sent twice it does no harm."""
    return Outbox.objects.create(
        topic=topic, row_id=row_id, queue=queue, created_at=now, not_before=not_before or now
    )


def publish_run(run: Run, *, now: datetime, not_before: datetime | None = None) -> None:
    """Tell the workers that a run needs one of them; inside the caller's transaction."""
    outbox_add(RUN, row_id=str(run.pk), queue=run.queue, now=now, not_before=not_before)
    n_messages = run.n_messages + 1
    Run.objects.filter(pk=run.pk).update(last_published_at=not_before or now, n_messages=n_messages)
    run.n_messages = n_messages


def outbox_publish(send: Send, *, now: datetime, limit: int = 200) -> Published:
    """Send what is due, oldest first; stops at the first refusal, so that order is kept roughly.

    A message is sent again when this process dies between sending and noting it: receivers are
    safe to call twice.
    """
    due = Outbox.objects.filter(published_at=None, not_before__lte=now).order_by("id")[:limit]
    n_published = 0
    for row in due:
        try:
            send(row)
        except ExternalFailure as error:
            wait = backoff(row.n_attempts + 1, first=_FIRST_RETRY, longest=_LAST_RETRY)
            Outbox.objects.filter(pk=row.pk).update(
                n_attempts=row.n_attempts + 1, not_before=now + wait
            )
            _refused(due[n_published:], error, now=now)
            return Published(n_published, error.message)
        Outbox.objects.filter(pk=row.pk).update(published_at=now, error="")
        if row.error:
            _tell(row, "The message broker answers again.", now=now, level="info")
        n_published += 1
    return Published(n_published, "")


def _refused(rows: Iterable[Outbox], error: ExternalFailure, *, now: datetime) -> None:
    """Say once, on every message that waits and in its run's log, that the broker is gone."""
    for row in rows:
        if not row.error:
            Outbox.objects.filter(pk=row.pk, published_at=None).update(error=error.message[:500])
            text = f"{error.message} The run is kept and starts by itself when it is back."
            _tell(row, text, now=now, level="warning")


def _tell(row: Outbox, text: str, *, now: datetime, level: str) -> None:
    run = Run.objects.filter(pk=row.row_id).first() if row.topic == RUN else None
    if run is not None:
        run_log(run, text, now=now, level=level)


def outbox_drop(run: Run) -> None:
    """Take back the messages of a run that needs no worker any more.

    Row by row: a DELETE that searches locks what the relay is about to note as sent, the other way
    round than the relay does.
    """
    waiting = Outbox.objects.filter(topic=RUN, row_id=str(run.pk), published_at=None)
    for pk in list(waiting.values_list("pk", flat=True)):
        Outbox.objects.filter(pk=pk).delete()


def outbox_forget(now: datetime) -> int:
    """Delete what was published more than a day ago."""
    n_deleted, _ = Outbox.objects.filter(published_at__lt=now - KEEP_PUBLISHED).delete()
    return n_deleted
