"""Which owners' yeses to still-read data may a person see?"""

from datetime import date
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.models import StillReadYes
from lifecycle.selectors.findings import tables_visible
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.filters import ListFilter

YES_ORDERS = {"-said": ("-said_at",), "said": ("said_at",)}


class YesFilter(ListFilter):
    """Owners' yeses by state and table; those that stand unless the others are asked for."""

    state = filters.ChoiceFilter(
        choices=[("ended", "Over"), ("all", "Both")],
        label="State",
        empty_label="Standing",
        method="filter_state",
    )
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = StillReadYes
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what is over, where nobody says otherwise."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("state") else rows.filter(is_standing=True)

    def filter_state(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is over, or everything."""
        return rows.filter(is_standing=False) if value == "ended" else rows


def yes_visible(lake: str, user: User, *, today: date) -> QuerySet[StillReadYes]:
    """Give the yeses that a person said, or of tables they see; `is_standing` is annotated."""
    rows: QuerySet[StillReadYes] = StillReadYes.objects.filter(lake=lake).annotate(
        is_standing=Q(ended_at=None, until__gte=today)
    )
    if user.is_lake_admin or user.is_lake_operator:
        return rows
    tables = tables_visible(lake, user).filter(db=OuterRef("db"), table=OuterRef("table"))
    return rows.filter(Q(said_by=user.username) | Q(Exists(tables)))


def get_yes_for_user(lake: str, yes_id: UUID | str, *, user: User) -> StillReadYes:
    """Give one yes, or NotVisible `still_read.missing`, whether it exists or not."""
    found = yes_visible(lake, user, today=date.min).filter(public_id=yes_id).first()
    if found is None:
        raise NotVisible("still_read.missing", "There is no such yes, or it is not yours to see.")
    return found
