"""Filters of runs and audit events. The same sets serve the pages and the API.

`ListFilter` is the base of every list's filters: its controls stand in the URL and in
`ui/_filters.html`.
"""

from typing import Any

import django_filters as filters
from django import forms
from django.db.models import QuerySet

from portal.audit.models import AuditEvent
from portal.notices.kinds import mail_kind_title, mail_kinds
from portal.notices.models import Notice, NoticeState
from portal.runs.domain import ACTIVE, RunState
from portal.runs.kinds.registry import all_kinds
from portal.runs.models import Run, RunEvent
from portal.ui.frame.states import badge_for

UNFINISHED = "UNFINISHED"
# Levels of a line of a log, the worst last.
LEVELS = ("info", "warning", "error")


class ListFilter(filters.FilterSet):  # type: ignore[misc]  # untyped base
    """A FilterSet that refuses bad values with a message and shows nothing then."""

    @property
    def is_on(self) -> bool:
        """Whether anything is filtered."""
        return any(self.form.data.get(name) for name in self.form.fields)


class DayInput(forms.DateInput):
    """A day as the browser's own calendar asks for it."""

    input_type = "date"


def prefix(field: str, label: str) -> filters.CharFilter:
    """Give a filter by the beginning of a name: an index answers it, `contains` reads all rows."""
    return filters.CharFilter(
        field_name=field,
        lookup_expr="startswith",
        label=label,
        widget=forms.TextInput(attrs={"placeholder": "starts with", "autocomplete": "off"}),
    )


def _kinds() -> list[tuple[str, str]]:
    return [(kind.name, kind.title) for kind in all_kinds()]


class RunFilter(ListFilter):
    """Runs by kind, state and who asked."""

    kind = filters.ChoiceFilter(choices=_kinds, label="Kind", empty_label="Any")
    state = filters.ChoiceFilter(
        choices=[
            (UNFINISHED, "Not ended"),
            *((state.value, badge_for(state).word) for state in RunState),
        ],
        label="State",
        empty_label="Any",
        method="in_state",
    )
    requested_by = filters.CharFilter(label="Requested by")
    routine = filters.ChoiceFilter(
        choices=[("yes", "Shown"), ("no", "Hidden")],
        label="Routine checks",
        empty_label="Any",
        method="with_routine",
        help_text="What the schedule starts all day and changes nothing; failed ones are shown.",
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def in_state(self, rows: QuerySet[Run], _name: str, value: str) -> QuerySet[Run]:
        """Give the runs of one state, or all that have not ended."""
        if value == UNFINISHED:
            return rows.filter(state__in=[state.value for state in ACTIVE])
        return rows.filter(state=value)

    def with_routine(self, rows: QuerySet[Run], _name: str, value: str) -> QuerySet[Run]:
        """Leave out the routine checks, except those that failed."""
        if value == "yes":
            return rows
        return rows.filter(is_routine__in=(False,))  # `NOT is_routine` uses no index of SQLite


class RunLineFilter(ListFilter):
    """Lines of a run's log by level and by what they say."""

    level = filters.ChoiceFilter(
        choices=[("warning", "Warnings and errors"), ("error", "Errors")],
        label="Level",
        empty_label="Any",
        method="from_level",
    )
    text = filters.CharFilter(label="Text contains", lookup_expr="icontains")

    class Meta:
        model = RunEvent
        fields: list[str] = []

    def from_level(self, rows: QuerySet[RunEvent], _name: str, value: str) -> QuerySet[RunEvent]:
        """Keep the lines of this level and of worse ones."""
        return rows.filter(level__in=LEVELS[LEVELS.index(value) :])


class AuditFilter(ListFilter):
    """Events by action, actor, object and day."""

    action = prefix("action", "Action")
    actor = filters.CharFilter(label="Who")
    object_type = filters.CharFilter(label="Object type")
    object_id = prefix("object_id", "Object")
    since = filters.DateFilter(
        field_name="at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = AuditEvent
        fields: list[str] = []


class MailKindInput(forms.Select):
    """A choice of the kinds of mail in words, which also takes the beginning of any other."""

    def optgroups(self, name: str, value: list[str], attrs: Any = None) -> Any:
        """Return the registered kinds, and what an older address has in place of one."""
        kinds = [(kind.name, kind.title) for kind in mail_kinds()]
        known = {"", *(kind for kind, _ in kinds)}
        others = [(one, mail_kind_title(one)) for one in value if one and one not in known]
        self.choices = [("", "Any"), *kinds, *others]
        return super().optgroups(name, value, attrs)


class MailFilter(ListFilter):
    """Mails by kind, state, person and day."""

    kind = filters.CharFilter(
        field_name="kind", lookup_expr="startswith", label="Kind", widget=MailKindInput()
    )
    state = filters.ChoiceFilter(
        choices=[(state.value, badge_for(state).word) for state in NoticeState],
        label="State",
        empty_label="Any",
    )
    recipient = filters.CharFilter(label="To")
    since = filters.DateFilter(field_name="day", lookup_expr="gte", label="From", widget=DayInput())
    until = filters.DateFilter(
        field_name="day", lookup_expr="lte", label="Until", widget=DayInput()
    )

    class Meta:
        model = Notice
        fields: list[str] = []


def filtered(filterset: filters.FilterSet) -> QuerySet[Any]:
    """Return the filtered rows; none at all where a value is not valid (the form says which)."""
    rows: QuerySet[Any] = filterset.qs if filterset.is_valid() else filterset.queryset.none()
    return rows
