"""The page of one table: its header, and the tabs that the areas register."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.http import require_GET

from portal.access.models import User
from portal.catalog.domain.health import Finding, HealthLevel, worst_of
from portal.catalog.models import Table
from portal.catalog.selectors import get_table_for_user, table_or_none
from portal.catalog.services.registry import (
    OVERVIEW,
    Action,
    Strip,
    TableTab,
    action_of,
    health_parts,
    read_health,
    strips_of,
    tab_of,
    tabs_for,
    trace_links,
)
from portal.lake.errors import NotVisible
from portal.ui.frame.context import current_lake, lake_or_none, person
from portal.ui.frame.navigation import Tab
from portal.ui.frame.subject import set_subject
from portal.ui.selectors import events_of_table
from portal.ui.tables.addresses import table_url, tables_url

EVENTS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class PartShown:
    """One part of the health, with the tab that explains it."""

    title: str
    finding: Finding
    url: str

    @property
    def state(self) -> str:
        """The state by which its badge is found."""
        return f"PART_{self.finding.level.name}"


@dataclass(frozen=True, slots=True)
class TableShown:
    """What stands above every tab of a table."""

    table: Table
    keys: frozenset[str]
    tabs: tuple[Tab, ...]
    level: HealthLevel
    parts: tuple[PartShown, ...]
    strips: tuple[Strip, ...]
    action: Action | None

    @property
    def state(self) -> str:
        """The state by which the badge of its health is found."""
        return f"TABLE_{self.level.name}"


@require_GET
def table(request: HttpRequest, db: str, table: str) -> HttpResponse:
    """Show what is known of a table, how each part of it stands, and what happened to it."""
    lake, user = current_lake(request), person(request)
    try:
        found = get_table_for_user(lake, db, table, user=user)
    except NotVisible as error:
        return _unknown(request, error, (lake, db, table))
    shown = _framed(request, found, user, OVERVIEW)
    context = {
        "table": found,
        "shown": shown,
        "events": events_of_table(lake, db, table).order_by("-seq")[:EVENTS_SHOWN],
        "history_url": table_url(lake, db, table, "history"),
    }
    return render(request, "catalog/overview.html", context, status=_status(found))


@require_GET
def tab(request: HttpRequest, db: str, table: str, key: str, part: str = "") -> HttpResponseBase:
    """Show one tab of a table; of a table that was dropped, those that outlive it."""
    lake, user = current_lake(request), person(request)
    try:
        found = get_table_for_user(lake, db, table, user=user)
    except NotVisible as error:
        return _unknown(request, error, (lake, db, table))
    wanted = tab_of(found, key)
    if wanted is not None and part and part not in wanted.parts:
        raise NotVisible("page.missing", "There is nothing at this address for you.")
    shown = _framed(request, found, user, key)
    if wanted is None or key not in shown.keys:
        status = 410 if found.deleted_at else 404
        return render(request, "catalog/no_tab.html", {"table": found}, status=status)
    return wanted.view(request, found, part)


def _unknown(request: HttpRequest, error: NotVisible, name: tuple[str, str, str]) -> HttpResponse:
    """Say what became of a name that a list remembers, as far as that can be told to anybody."""
    lake, db, table = name
    context = {
        "error": error,
        "name": f"{db}.{table}",
        "traces": trace_links(*name),
        "search_url": f"{reverse('search:search')}?{urlencode({'lake': lake, 'q': table})}",
        "tables_url": tables_url(lake, db=db),
        "db": db,
    }
    return render(request, "catalog/unknown.html", context, status=error.status)


def stand_where_sent(request: HttpRequest, path: str, query: str) -> None:
    """Put the header of a table above the answer to a form that stood on the table's page.

    Nothing where the page was none of a table, or of one that the person does not see any more.
    """
    try:
        found = resolve(path)
    except Resolver404:
        return
    if found.view_name not in {"ui:table", "ui:table-tab", "ui:table-part"}:
        return
    user, lake = getattr(request, "user", None), QueryDict(query).get("lake")
    lake = lake or lake_or_none(request)
    if not isinstance(user, User) or not lake:
        return
    row = table_or_none(lake, found.kwargs["db"], found.kwargs["table"], user=user)
    if row is not None:
        _framed(request, row, user, found.kwargs.get("key", OVERVIEW))


def _status(found: Table) -> int:
    return 410 if found.deleted_at else 200


def _framed(request: HttpRequest, found: Table, user: User, key: str) -> TableShown:
    """Put the header of the table above whatever page the request answers with."""
    is_there = found.deleted_at is None
    findings = read_health(found.lake, [found])[found.pk] if is_there else {}
    tabs = tabs_for(found, user, findings)
    shown = TableShown(
        table=found,
        keys=frozenset(tab.key for tab in tabs),
        tabs=_tabs(found, tabs, key),
        level=worst_of(findings.values()),
        parts=_parts(found, findings),
        strips=tuple(strips_of(found, user, on_tab=key)) if is_there else (),
        action=action_of(found, user, findings) if is_there else None,
    )
    set_subject(request, "catalog/table.html", shown)
    return shown


def _tabs(found: Table, tabs: Sequence[TableTab], key: str) -> tuple[Tab, ...]:
    named = [(OVERVIEW, "Overview"), *((one.key, one.title) for one in tabs)]
    return tuple(
        Tab(title, table_url(*_name(found), one), "page" if one == key else "")
        for one, title in named
    )


def _parts(found: Table, findings: Mapping[str, Finding]) -> tuple[PartShown, ...]:
    return tuple(
        PartShown(part.title, findings[part.key], table_url(*_name(found), part.tab))
        for part in health_parts()
        if part.key in findings
    )


def _name(found: Table) -> tuple[str, str, str]:
    return found.lake, found.db, found.name
