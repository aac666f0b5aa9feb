"""The list of every table of the lake that a person may see, the worst first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.views.decorators.http import require_GET

from portal.access.models import User
from portal.catalog.selectors import health_as_of, tables_visible
from portal.catalog.services.registry import health_parts
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import ListFilter
from portal.ui.tables.addresses import tables_url
from portal.ui.tables.bulk import FORM, TICKED, Bar
from portal.ui.tables.columns import chosen_columns
from portal.ui.tables.filters import TableFilter
from portal.ui.tables.saved_views import kept_query, shown_views

TABLE_ORDERS = {
    "worst": ("-level", "db", "name"),
    "name": ("db", "name"),
    "-name": ("-db", "-name"),
}


TABLES = ListSpec(
    template="catalog/tables.html",
    caption="Tables of the lake",
    columns=(),
    orders=TABLE_ORDERS,
    filename="tables.csv",
    select=TICKED,
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
    bar = Bar(lake, user, request.get_full_path(), request.GET.urlencode())

    def complete(rows: Sequence[Any]) -> None:
        chosen.complete(rows)
        if request.GET.get("format") != "csv":
            bar.offer(rows)

    context = {
        "bar": bar,
        "form": FORM,
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
    return list_response(request, spec, filterset=filterset, context=context, complete=complete)


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
