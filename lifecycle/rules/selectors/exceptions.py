"""Reads the path rule exceptions in force, and what an ended one had let pass."""

from datetime import date, datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.drop.domain.refusal import Name
from lifecycle.inventory.models.findings import FindingKind
from lifecycle.models import PathException, PathFinding, PolicyRequest
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.rules.domain.conformity import Reason
from portal.access.lakes import get_lake
from portal.lake.clock import day_of


def exceptions_standing(lake: str, *, today: date) -> QuerySet[PathException]:
    """Return the exceptions of a lake that count today."""
    return PathException.objects.filter(lake=lake, ended_at=None, until__gte=today)


def breaks_rule(lake: str, db: str, table: str, rule: Reason) -> bool:
    """Whether the last scan shows that a table or database breaks a rule, waived or not."""
    rows = PathFinding.objects.current(lake).filter(db=db, table=table)
    if rule is Reason.PART_PATH_NOT_IN_TBL:
        return rows.filter(kind=FindingKind.PARTITION).exists()
    own = rows.exclude(kind=FindingKind.PARTITION).first()
    return own is not None and rule in (*own.reasons, *own.waived)


def no_longer_excepted(lake: str, *, since: datetime, today: date) -> set[Name]:
    """Name what an exception let pass at `since` that does not stand any more.

    A database named without a table stands for all that is in it.
    """
    first_day = day_of(since, get_lake(lake).zone)
    passed = Q(ended_at=None, until__gte=first_day, until__lt=today)
    over = PathException.objects.filter(Q(ended_at__gte=since) | passed, lake=lake)
    fields = ("db", "table", "rule")
    kept = set(exceptions_standing(lake, today=today).values_list(*fields))
    return {Name(one[0], one[1]) for one in over.values_list(*fields) if one not in kept}


def with_exceptions(
    rows: QuerySet[PathFinding], lake: str, *, today: date
) -> QuerySet[PathFinding]:
    """Add `is_granted` and `is_asked`: what became of an object's exceptions since the scan."""
    named = {"lake": lake, "db": OuterRef("db"), "table": OuterRef("table")}
    asked = PolicyRequest.objects.filter(
        kind=RequestKind.WAIVE, state=RequestState.PENDING, **named
    )
    granted = PathException.objects.filter(ended_at=None, until__gte=today, **named)
    return rows.annotate(is_granted=Exists(granted), is_asked=Exists(asked))
