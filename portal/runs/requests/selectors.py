"""Queries of what is known of a run and of what it waits for."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from portal.lake.errors import NotVisible
from portal.runs.domain import FINAL, RunState, is_lease_dead
from portal.runs.kinds.hours import run_start_wait
from portal.runs.models import Outbox, Run, RunEvent

_USUALLY_PUBLISHED_WITHIN = timedelta(seconds=30)
_USUALLY_CLAIMED_WITHIN = timedelta(minutes=2)


def get_run(run_id: UUID | str) -> Run:
    """Return a run by id, for programs; pages go through `get_run_for_user`.

    Raises:
        NotVisible: there is none.
    """
    try:
        return Run.objects.get(pk=UUID(str(run_id)))
    except (Run.DoesNotExist, ValueError):
        raise NotVisible("run.unknown", "There is no such run.") from None


def run_events(run: Run, *, after: int = 0, limit: int = 500) -> list[RunEvent]:
    """Return lines of a run's log in order, those after a known number."""
    return list(RunEvent.objects.filter(run=run, seq__gt=after).order_by("seq")[:limit])


def broker_problem() -> str:
    """Return why messages cannot reach the broker now; empty while they can."""
    row = Outbox.objects.filter(published_at=None).exclude(error="").order_by("id").first()
    return row.error if row else ""


def run_waits(run: Run, *, now: datetime) -> str:
    """Say what keeps a run from going on although nothing is wrong with it; empty as a rule."""
    waiting = run.state in (RunState.QUEUED, RunState.SETTLING)
    if not waiting or not is_lease_dead(run.lease_until, now):
        return ""
    if run.state == RunState.QUEUED and (hours := run_start_wait(run, now=now)):
        return hours
    messages = Outbox.objects.filter(row_id=str(run.pk), published_at=None)
    message = messages.order_by("id").first()
    if message is not None and message.error:
        return (
            "The message broker does not answer, so no worker has received this run. It is kept "
            "in the database and starts by itself when the broker is back."
        )
    if message is not None and now - message.not_before > _USUALLY_PUBLISHED_WITHIN:
        return (
            "Nobody passes messages on: the supervisor is silent. The run is kept and starts by "
            "itself when an operator has started the supervisor."
        )
    if message is None and now - (run.last_published_at or run.queued_at) > _USUALLY_CLAIMED_WITHIN:
        return (
            f"No worker of the queue '{run.queue}' has taken it yet: all are busy, or none runs. "
            "It is kept and starts by itself."
        )
    return ""


def newest_ended(lake: str, kind: str) -> QuerySet[Run]:
    """Return the runs of a kind that ended and were not cancelled, newest first."""
    runs = Run.objects.filter(lake=lake, kind=kind, state__in=FINAL - {RunState.CANCELLED})
    return runs.order_by("-queued_at")
