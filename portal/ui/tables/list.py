"""The list of every table of the lake that a person may see, the worst first."""

from dataclasses import dataclass, replace
from typing import Any

import django_filters as filters
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.views.decorators.http import require_GET

from portal.access.models import User
from portal.access.visibility import answered_by
from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import Table
from portal.catalog.selectors import (
    OWNERS,
    has_part,
    health_as_of,
    tables_visible,
)
from portal.catalog.services.registry import health_parts
from portal.ui.frame.context import current_lake, person
from portal.ui.frame.states import badge_for
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import ListFilter
from portal.ui.tables.addresses import tables_url
from portal.ui.tables.columns import chosen_columns
from portal.ui.tables.saved_views import kept_query, shown_views

TABLE_ORDERS = {
    "worst": ("-level", "db", "name"),
    "name": ("db", "name"),
    "-name": ("-db", "-name"),
}


def level_choices() -> list[tuple[str, str]]:
    """Return the levels in words, the worst first."""
    return [
        (level.name, badge_for(f"TABLE_{level.name}").word)
        for level in sorted(HealthLevel, reverse=True)
    ]


def part_choices() -> list[tuple[str, str]]:
    """Return the parts of health that areas register."""
    return [(part.key, part.title) for part in health_parts()]


class TableFilter(ListFilter):
    """Tables by database, name, format, owner, and health: of the whole table, or of one part."""

    level = filters.ChoiceFilter(
        choices=level_choices, label="Health", empty_label="Any", method="filter_level"
    )
    part = filters.ChoiceFilter(
        choices=part_choices,
        label="Because of",
        empty_label="Any part",
        method="filter_part",
        help_text="The level above is then of this part; without one, whatever is not in order.",
    )
    db = filters.CharFilter(label="Database")
    name = filters.CharFilter(lookup_expr="contains", label="Table contains")
    table_format = filters.CharFilter(field_name="format", label="Format")
    owner = filters.CharFilter(label="Owner")
    person = filters.CharFilter(label="Responsible", method="filter_person")

    class Meta:
        model = Table
        fields: list[str] = []

    def filter_level(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables of this level, unless the level of one part is asked for."""
        if self.form.cleaned_data.get("part"):
            return rows
        return rows.filter(level=HealthLevel[value])

    def filter_part(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables of which this part has the level, or is not in order."""
        level = self.form.cleaned_data.get("level")
        return rows.filter(has_part(value, HealthLevel[level] if level else None))

    def filter_person(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what one person answers for, whoever is looking."""
        return rows.filter(answered_by(value, owners=OWNERS))


TABLES = ListSpec(
    template="catalog/tables.html",
    caption="Tables of the lake",
    columns=(),
    orders=TABLE_ORDERS,
    filename="tables.csv",
    exports=(
        "lake", "db", "name", "health", "format", "owner", "db_owner", "location", "created_at",
        "first_seen_at", "last_seen_at",
    ),
)  # fmt: skip


@require_GET
def tables(request: HttpRequest) -> HttpResponseBase:
    """List the tables that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = TableFilter(request.GET, queryset=tables_visible(lake, user))
    chosen = chosen_columns(request.GET)
    context = {
        "as_of": health_as_of(lake),
        "cols": chosen.text,
        "choices": chosen.choices,
        "kept_params": kept_params(request.GET),
        "presets": presets(lake, user, cols=chosen.text),
        "chips": chips(request, filterset),
        "views": shown_views(request, lake),
        "view_query": kept_query(request.GET.urlencode()),
    }
    spec = replace(TABLES, columns=chosen.shown, exported=chosen.exported)
    return list_response(
        request, spec, filterset=filterset, context=context, complete=chosen.complete
    )


def presets(lake: str, user: User, *, cols: str = "") -> list[tuple[str, str]]:
    """Return the filters that a person wants at once: their names and addresses."""
    kept = {"cols": cols} if cols else {}
    found = [("Mine", tables_url(lake, person=user.username, **kept))]
    for part in health_parts():
        if part.preset:
            found.append((part.preset, tables_url(lake, part=part.key, **kept)))
    return found


def kept_params(asked: QueryDict) -> list[tuple[str, str]]:
    """Return what the form of columns sends along: the list's filter and order."""
    left = {"cols", "after", "before", "format"}
    return [(name, str(value)) for name, value in asked.items() if value and name not in left]


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is on, and the address of the list without it."""

    label: str
    value: str
    url: str


def chips(request: HttpRequest, filterset: ListFilter) -> list[Chip]:
    """Return what is filtered by."""
    found = []
    for name, field in filterset.form.fields.items():
        value = request.GET.get(name, "")
        if not value:
            continue
        without = request.GET.copy()
        for gone in (name, "after", "before"):
            without.pop(gone, None)
        words = dict(getattr(field, "choices", ())).get(value, value)
        found.append(Chip(str(field.label), str(words), f"?{without.urlencode()}"))
    return found
