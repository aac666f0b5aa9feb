"""Reads what became of a query that was given to be narrowed."""

from uuid import UUID

from django.db.models import QuerySet

from optimizer.pruning.domain import KIND
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.runs.models import Run

MOST_SHOWN = 10


def pruned_queries_of(lake: str, user: User) -> QuerySet[Run]:
    """Return the last queries that this person gave, newest first."""
    mine = Run.objects.filter(lake=lake, kind=KIND, requested_by=user.username)
    return mine.order_by("-queued_at")[:MOST_SHOWN]


def get_pruned_query(run_id: UUID, *, user: User) -> Run:
    """Return a query by its run; others' are nobody's business, for its constants may be secret.

    Raises:
        NotVisible: there is none for this person.
    """
    run = Run.objects.filter(pk=run_id, kind=KIND, requested_by=user.username).first()
    if run is None:
        raise NotVisible("prune.missing", "There is no such query of yours.", run=str(run_id))
    return run
