"""Filters and orderings of lists. Pages, API and CSV use the same set."""

from typing import Any

import django_filters as filters
from django.db.models import QuerySet

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import FindingKind
from lifecycle.models import DatabaseFinding, PathFinding, SamplePartition
from lifecycle.rules.domain.conformity import Reason
from portal.access.visibility import answered_by
from portal.catalog.selectors import OWNERS
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import DayInput, ListFilter

REASONS = [(reason.value, reason.value) for reason in Reason]
KINDS = [(kind.value, kind.value.capitalize()) for kind in FindingKind]
Choices = list[tuple[str, str]]


def class_choices() -> Choices:
    """Return the classes by the words of their badges, which are known once all is registered."""
    return [(cls.value, badge_for(cls.value).word) for cls in ExpiryClass]


def mode_choices() -> Choices:
    """Return the modes by the words of their badges."""
    return [(mode.value, badge_for(mode.value).word) for mode in DatabaseMode]


PATH_ORDERS = {
    "name": ("db", "table"),
    "-name": ("-db", "-table"),
    "owner": ("owner", "db", "table"),
    "-owner": ("-owner", "-db", "-table"),
}
TABLE_ORDERS = {
    "-size": ("-bytes_clean_now",),
    "size": ("bytes_clean_now",),
    "name": ("db", "table"),
    "-name": ("-db", "-table"),
    "owner": ("owner", "db", "table"),
    "-owner": ("-owner", "-db", "-table"),
    "due": ("next_due_on",),
    "-due": ("-next_due_on",),
}
ITEM_ORDERS = {
    "due": ("due_on",),
    "-due": ("-due_on",),
    "name": ("partition",),
    "-name": ("-partition",),
}
DATABASE_ORDERS = {
    "name": ("db",),
    "-name": ("-db",),
    "owner": ("owner", "db"),
    "-owner": ("-owner", "-db"),
    "-size": ("-bytes_clean_now",),
    "size": ("bytes_clean_now",),
}


class StandingFilter(ListFilter):
    """Rows with an annotated `is_standing`: those that stand unless the others are asked for."""

    state = filters.ChoiceFilter(
        choices=[("ended", "Over"), ("all", "Both")],
        label="State",
        empty_label="Active",
        method="filter_state",
    )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what is over, where nobody says otherwise."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("state") else rows.filter(is_standing=True)

    def filter_state(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is over, or everything."""
        return rows.filter(is_standing=False) if value == "ended" else rows


class PersonFilterSet(ListFilter):
    """Filters that all lists of findings share."""

    db = filters.CharFilter(label="Database")
    owner = filters.CharFilter(label="Owner")
    person = filters.CharFilter(label="Responsible", method="filter_person")

    def filter_person(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what the person owns or administers."""
        return rows.filter(answered_by(value, owners=OWNERS))


class PathFilterSet(PersonFilterSet):
    """Filters of nonconforming paths; what is wholly waived is left out unless it is asked for."""

    reason = filters.ChoiceFilter(label="Reason", choices=REASONS, method="filter_reason")
    state = filters.ChoiceFilter(
        label="State",
        choices=[("WAIVED", "Waived"), ("ALL", "Both")],
        empty_label="Not excepted",
        method="filter_state",
    )
    kind = filters.ChoiceFilter(label="Kind", choices=KINDS)
    table = filters.CharFilter(label="Table")

    class Meta:
        model = PathFinding
        fields = ("reason", "state", "kind", "db", "table", "owner", "person")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what is waived, where nobody says otherwise."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("state") else rows.filter(is_excepted=False)

    def filter_state(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is wholly waived, or everything."""
        return rows.filter(is_excepted=True) if value == "WAIVED" else rows

    def filter_reason(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep paths that break this rule, alone or among others."""
        return rows.filter(reason_key__contains=f"|{value}|")


class ItemFilterSet(ListFilter):
    """Filters of one table's items."""

    cls = filters.ChoiceFilter(label="Class", choices=class_choices)
    partition = filters.CharFilter(label="Partition has", lookup_expr="contains")
    due_from = filters.DateFilter(
        label="Due from", field_name="due_on", lookup_expr="gte", widget=DayInput()
    )
    due_to = filters.DateFilter(
        label="Due to", field_name="due_on", lookup_expr="lte", widget=DayInput()
    )

    class Meta:
        model = SamplePartition
        fields = ("cls", "partition", "due_from", "due_to")


class DatabaseFilterSet(ListFilter):
    """Filters of databases."""

    db = filters.CharFilter(label="Database has", lookup_expr="contains")
    owner = filters.CharFilter(label="Owner")
    mode = filters.ChoiceFilter(label="Mode", choices=mode_choices, field_name="mode_now")

    class Meta:
        model = DatabaseFinding
        fields = ("db", "owner")
