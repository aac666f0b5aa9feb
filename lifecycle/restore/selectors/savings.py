"""Reads the savings that a person may see, by owner, database and month."""

from datetime import date
from typing import Any

import django_filters as filters
from django.db.models import Q, QuerySet, Sum

from lifecycle.backup.models import Savings
from portal.access.models import User
from portal.ui.lists.filters import ListFilter

SAVINGS_ORDERS = {
    "-freed": ("-purged_bytes",),
    "freed": ("purged_bytes",),
    "owner": ("table_owner", "db"),
    "-owner": ("-table_owner", "-db"),
}
MOST_MONTHS = 24


class SavingsFilter(ListFilter):
    """Savings by owner and database."""

    owner = filters.CharFilter(field_name="table_owner", label="Owner")
    db = filters.CharFilter(label="Database")

    class Meta:
        model = Savings
        fields: list[str] = []


def savings_visible(lake: str, user: User) -> QuerySet[Savings]:
    """Return the savings of all months, by owner and database: everybody's to those who keep it."""
    rows = Savings.objects.filter(lake=lake, month=Savings.EVER).exclude(db="")
    return rows.filter(_mine(lake, user))


def savings_by_month(lake: str, user: User) -> dict[str, list[tuple[date, int]]]:
    """Return what became of what was dropped, by month of the last two years: freed, kept, back."""
    rows = Savings.objects.filter(lake=lake, month__gt=Savings.EVER)
    if user.is_lake_staff_of(lake):
        rows = rows.filter(db="")
    else:
        rows = rows.exclude(db="").filter(_mine(lake, user))
    sums = rows.order_by().values("month")
    months = sums.annotate(
        freed=Sum("purged_bytes"), waiting=Sum("waiting_bytes"), back=Sum("restored_bytes")
    ).order_by("-month")[:MOST_MONTHS]
    named = {"freed": "freed for good", "waiting": "in backup", "back": "restored"}
    read: list[Any] = list(months)
    return {name: [(row["month"], row[key]) for row in read] for key, name in named.items()}


def _mine(lake: str, user: User) -> Q:
    if user.is_lake_staff_of(lake):
        return Q()
    owners = {user.username, *user.stands_for.get(lake, ())}
    return Q(table_owner__in=owners) | Q(db__in=user.administered.get(lake, ()))
