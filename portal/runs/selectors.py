"""Which runs may a person see, and what is known of one?"""

from uuid import UUID

from django.db.models import QuerySet

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.runs.domain import FINAL
from portal.runs.models import Outbox, Run, RunEvent


def get_run(run_id: UUID | str) -> Run:
    """Give a run by id, for programs; pages go through `get_run_for_user`.

    Raises:
        NotVisible: there is none.
    """
    try:
        return Run.objects.get(pk=UUID(str(run_id)))
    except (Run.DoesNotExist, ValueError):
        raise NotVisible("run.unknown", "There is no such run.") from None


def runs_for_user(user: User) -> QuerySet[Run]:
    """Give what a person may see: admins and operators all, others what they asked for."""
    if user.roles:
        return Run.objects.all()
    return Run.objects.filter(requested_by=user.username)


def get_run_for_user(run_id: UUID | str, *, user: User) -> Run:
    """Give one run that the person may see.

    Raises:
        NotVisible: there is none for this person.
    """
    run = get_run(run_id)
    if not user.roles and run.requested_by != user.username:
        raise NotVisible("run.unknown", "There is no such run.")
    return run


def run_events(run: Run, *, after: int = 0, limit: int = 500) -> list[RunEvent]:
    """Give lines of a run's log in order, those after a known number."""
    return list(RunEvent.objects.filter(run=run, seq__gt=after).order_by("seq")[:limit])


def runs_unfinished(lake: str, kind: str) -> QuerySet[Run]:
    """Give the runs of a kind that have not ended."""
    return Run.objects.filter(lake=lake, kind=kind).exclude(state__in=FINAL)


def broker_problem() -> str:
    """Give why messages cannot reach the broker now; empty while they can."""
    row = Outbox.objects.filter(published_at=None).exclude(error="").order_by("id").first()
    return row.error if row else ""
