"""Reads the path rule exceptions that a person may see, and whose they are."""

from datetime import date, datetime
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.core.selectors.filters import REASONS, StandingFilter
from lifecycle.inventory.selectors.findings import databases_visible, tables_visible
from lifecycle.models import DatabaseFinding, PathException, PolicyRequest
from lifecycle.planning.selectors.inputs import owns_table
from portal.access.lakes import get_lake
from portal.access.models import DatabaseAdministrator, User
from portal.lake.clock import day_of
from portal.lake.errors import NotVisible

EXCEPTION_ORDERS = {
    "-granted": ("-granted_at",),
    "granted": ("granted_at",),
    "until": ("until", "granted_at"),
    "-until": ("-until", "-granted_at"),
}


class PathRuleExceptionFilter(StandingFilter):
    """Exceptions by state, rule and name; those that stand unless the ended are asked for."""

    reason = filters.ChoiceFilter(field_name="rule", choices=REASONS, label="Rule")
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = PathException
        fields: list[str] = []


def exceptions_visible(lake: str, user: User, *, today: date) -> QuerySet[PathException]:
    """Give the exceptions that a person asked for, or of what they see.

    `is_standing` is annotated.
    """
    rows: QuerySet[PathException] = PathException.objects.filter(lake=lake).annotate(
        is_standing=Q(ended_at=None, until__gte=today)
    )
    if user.is_lake_staff_of(lake):
        return rows
    tables = tables_visible(lake, user).filter(db=OuterRef("db"), table=OuterRef("table"))
    databases = databases_visible(lake, user).filter(db=OuterRef("db"))
    of_database = Q(table="") & Q(Exists(databases))
    return rows.filter(Q(requested_by=user.username) | Q(Exists(tables)) | of_database)


def get_exception_for_user(lake: str, waiver_id: UUID | str, *, user: User) -> PathException:
    """Return one exception, or NotVisible `waiver.missing`, whether it exists or not."""
    visible = exceptions_visible(lake, user, today=date.min)
    found = visible.filter(public_id=waiver_id).select_related("request").first()
    if found is None:
        raise NotVisible("waiver.missing", "There is no such exception, or it is not yours to see.")
    return found


def owns_named(lake: str, db: str, table: str, *, user: User) -> bool:
    """Whether a person answers for a table, or (`table` empty) for a database."""
    if table:
        return owns_table(user.username, lake=lake, db=db, table=table)
    owned = DatabaseFinding.objects.current(lake).filter(db=db, owner=user.username)
    rows = DatabaseAdministrator.objects.filter(lake=lake, db=db, username=user.username)
    return owned.exists() or rows.exists()


def may_end_exception(request: PolicyRequest, user: User, *, now: datetime) -> bool:
    """Whether a person may end the exception that came of a request.

    None stands any more: False.
    """
    granted = PathException.objects.filter(request=request, ended_at=None).first()
    today = day_of(now, get_lake(request.lake).zone)
    return granted is not None and granted.until >= today and is_exceptions_person(granted, user)


def is_exceptions_person(granted: PathException, user: User) -> bool:
    """Whether an exception is a person's to end: an admin's, an owner's, or who asked for it."""
    if user.is_lake_admin_of(granted.lake) or granted.requested_by == user.username:
        return True
    return owns_named(granted.lake, granted.db, granted.table, user=user)
