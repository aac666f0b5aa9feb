"""Reads the owners' approvals to drop recently read data that a person may see."""

from datetime import date
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.core.selectors.filters import StandingFilter
from lifecycle.inventory.selectors.findings import tables_visible
from lifecycle.models import DeletionConsent
from portal.access.models import User
from portal.lake.errors import NotVisible

YES_ORDERS = {"-said": ("-given_at",), "said": ("given_at",)}


class YesFilter(StandingFilter):
    """Owners' yeses by state and table; those that stand unless the others are asked for."""

    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = DeletionConsent
        fields: list[str] = []


def yes_visible(lake: str, user: User, *, today: date) -> QuerySet[DeletionConsent]:
    """Return the yeses that a person said, or of tables they see; `is_standing` is annotated."""
    rows: QuerySet[DeletionConsent] = DeletionConsent.objects.filter(lake=lake).annotate(
        is_standing=Q(ended_at=None, until__gte=today)
    )
    if user.is_lake_staff_of(lake):
        return rows
    tables = tables_visible(lake, user).filter(db=OuterRef("db"), table=OuterRef("table"))
    return rows.filter(Q(given_by=user.username) | Q(Exists(tables)))


def get_yes_for_user(lake: str, yes_id: UUID | str, *, user: User) -> DeletionConsent:
    """Return one yes, or NotVisible `still_read.missing`, whether it exists or not."""
    found = yes_visible(lake, user, today=date.min).filter(public_id=yes_id).first()
    if found is None:
        raise NotVisible("still_read.missing", "There is no such consent, or you may not see it.")
    return found
