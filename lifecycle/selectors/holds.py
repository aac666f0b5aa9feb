"""Which holds stand on what this person may see?"""

from datetime import datetime
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.selectors.findings import databases_visible, tables_visible
from portal.access.models import User
from portal.act.models import Hold
from portal.act.selectors import holds_active
from portal.lake.errors import NotVisible
from portal.ui.filters import ListFilter

HOLD_ORDERS = {"-placed": ("-placed_at",), "placed": ("placed_at",)}


class HoldFilterSet(ListFilter):
    """Filters of holds."""

    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = Hold
        fields = ("db", "table")


def holds_visible(lake: str, user: User, *, now: datetime) -> QuerySet[Hold]:
    """Give the standing holds on databases and tables that `user` sees, and their own."""
    rows = holds_active(lake, now=now)
    if user.is_lake_admin or user.is_lake_operator:
        return rows
    databases = databases_visible(lake, user).filter(db=OuterRef("db"))
    tables = tables_visible(lake, user).filter(db=OuterRef("db"))
    return rows.filter(
        Q(placed_by=user.username)
        | Q(Exists(databases))
        | Q(Exists(tables.filter(table=OuterRef("table"))))
        | (Q(table="") & Q(Exists(tables)))
    )


def get_hold_for_user(lake: str, hold: UUID, *, user: User, now: datetime) -> Hold:
    """Give one standing hold, or NotVisible `hold.missing`."""
    found = holds_visible(lake, user, now=now).filter(public_id=hold).first()
    if found is None:
        raise NotVisible("hold.missing", "There is no such hold.")
    return found
