"""Reads the holds on what a person may see."""

from datetime import datetime
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.selectors import holds_active
from lifecycle.inventory.selectors.findings import databases_visible, tables_visible
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter

HOLD_ORDERS = {"-placed": ("-placed_at",), "placed": ("placed_at",)}


class HoldFilterSet(ListFilter):
    """Filters of holds."""

    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")
    kind = filters.ChoiceFilter(
        choices=[(kind.value, kind.value.lower()) for kind in HoldKind],
        label="Kind",
        empty_label="Any",
    )

    class Meta:
        model = Hold
        fields = ("db", "table", "kind")


class HoldPageFilter(HoldFilterSet):
    """Filters of the page, which shows ended holds too when asked."""

    state = filters.ChoiceFilter(
        choices=[("ended", "Ended")], label="State", empty_label="Active", method="in_state"
    )

    def in_state(self, rows: QuerySet[Hold], _: str, value: str) -> QuerySet[Hold]:
        """Keep the rows as they are: the page chose them by this word."""
        return rows


def holds_visible(lake: str, user: User, *, now: datetime) -> QuerySet[Hold]:
    """Return the standing holds on databases and tables that `user` sees, and their own."""
    return _seen_by(user, holds_active(lake, now=now), lake)


def holds_ended(lake: str, user: User, *, now: datetime) -> QuerySet[Hold]:
    """Return the holds that were released, or whose end has come, on what `user` sees."""
    standing = holds_active(lake, now=now).values("pk")
    return _seen_by(user, Hold.objects.filter(lake=lake).exclude(pk__in=standing), lake)


def _seen_by(user: User, rows: QuerySet[Hold], lake: str) -> QuerySet[Hold]:
    if user.is_lake_staff_of(lake):
        return rows
    databases = list(databases_visible(lake, user).values_list("db", flat=True))
    tables = tables_visible(lake, user).order_by()
    # Their databases are named first, so that only holds there are compared one by one.
    with_tables = list(tables.values_list("db", flat=True).distinct())
    named = tables.filter(db=OuterRef("db"), table=OuterRef("table"))
    mine = Hold.objects.filter(
        Q(placed_by=user.username)
        | Q(db__in=databases)
        | (Q(db__in=with_tables) & (Q(table="") | Exists(named))),
        lake=lake,
    )
    return rows.filter(pk__in=mine.values("pk"))


def get_hold_for_user(lake: str, hold: UUID, *, user: User, now: datetime) -> Hold:
    """Return one standing hold, or NotVisible `hold.missing`."""
    found = holds_visible(lake, user, now=now).filter(public_id=hold).first()
    if found is None:
        raise NotVisible("hold.missing", "There is no such hold.")
    return found
