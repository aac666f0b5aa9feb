"""Reads the removal lists visible to a person, and what of each lies in quarantine."""

from uuid import UUID

import django_filters as filters
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from optimizer.core.selectors.tasks import (
    FormatFilter,
    kind_choices,
    listed_kinds,
    of_either,
    of_lake,
)
from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.models import Quarantine, RemovalPlan
from optimizer.removals.domain.states import RemovalState
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for

REMOVAL_ORDERS = {"-created": ("-created_at",), "created": ("created_at",), "-bytes": ("-n_bytes",)}


class RemovalFilter(FormatFilter):
    """Lists by state, kind and table."""

    state = filters.ChoiceFilter(
        choices=lambda: [(one.value, badge_for(f"REMOVAL_{one}").word) for one in RemovalState],
        label="State",
        empty_label="Any",
    )
    kind = filters.ChoiceFilter(
        choices=lambda: kind_choices(listed_kinds()),
        label="Work",
        empty_label="Any",
    )

    class Meta:
        model = RemovalPlan
        fields: list[str] = []


def removals_visible(lake: str, user: User) -> QuerySet[RemovalPlan]:
    """Return the lists of tables of a lake that the person may see, unordered."""
    rows = RemovalPlan.objects.filter(of_either(user), of_lake(lake))
    return rows.select_related("table", "hudi", "approval")


def get_removal_for_user(plan_id: UUID | str, *, user: User) -> RemovalPlan:
    """Return one list, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = RemovalPlan.objects.filter(of_either(user))
    try:
        found = rows.select_related("table", "hudi", "approval", "task").filter(pk=plan_id).first()
    except ValidationError:
        found = None
    if found is None:
        raise NotVisible("removal.unknown", "There is no such list for you.", removal=plan_id)
    return found


def quarantine_of(plan: RemovalPlan) -> Quarantine | None:
    """Return the quarantine with the files of a list, if any were moved aside."""
    return Quarantine.objects.filter(plan=plan).first()


def is_held(plan: RemovalPlan) -> bool:
    """Return whether files of a list lie in quarantine and no run has them."""
    return Quarantine.objects.filter(plan=plan, state=QuarantineState.HELD).exists()
