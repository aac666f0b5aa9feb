"""What freshness adds to the page of a table: its tab, its health, and the offer of a repair."""

from collections.abc import Mapping

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from portal.access.models import User
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.services.columns import register_table_columns
from portal.catalog.services.registry import (
    Action,
    HealthPart,
    TableTab,
    register_table_action,
    register_table_health,
    register_table_tab,
)
from portal.lake.errors import NotVisible
from portal.ui.tables.addresses import table_url
from refresh.freshness.selectors.table_health import (
    CACHE,
    COLUMNS,
    tables_columns,
    tables_health,
)
from refresh.freshness.selectors.tables import targets_of_table
from refresh.freshness.ui.forms import AskForm
from refresh.freshness.ui.tables import table_page


def register_cache_tab() -> None:
    """Add the tab, the part of the health, columns, and the repair of a cache that is wrong."""
    register_table_tab(TableTab(CACHE, "Cache", 50, _page, _is_cached, shown_with=CACHE))
    register_table_health(tables_health, HealthPart(CACHE, "Cache", 30, CACHE, preset="Stale"))
    register_table_columns(tables_columns, *COLUMNS)
    register_table_action(repair_cache)


def repair_cache(table: Table, user: User, parts: Mapping[str, Finding]) -> Action | None:
    """Offer a refresh where queries may get what is no more."""
    cache = parts.get(CACHE)
    if cache is None or cache.level < HealthLevel.BAD:
        return None
    return Action(
        "Repair the cache", table_url(table.lake, table.db, table.name, CACHE), "refresh", 10
    )


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    """Show the table in one cluster: the one asked for, else where it stands worst."""
    rows = targets_of_table(table.lake, table.db, table.name)
    asked = request.GET.get("target", "")
    target = next((row for row in rows if str(row.pk) == asked), rows[0] if rows else None)
    if target is None:
        raise NotVisible("refresh.table", "There is no such table for you.", table=str(table))
    return table_page(request, target, AskForm(), others=[row for row in rows if row != target])


def _is_cached(table: Table, user: User) -> bool:
    return bool(targets_of_table(table.lake, table.db, table.name)[:1])
