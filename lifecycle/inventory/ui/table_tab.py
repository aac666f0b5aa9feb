"""What the inventory adds to the page of a table: its tab, its health, and what waits."""

from collections.abc import Mapping
from dataclasses import replace

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from lifecycle.core.ui.links import database_url, list_url
from lifecycle.inventory.selectors.findings import databases_visible, tables_visible
from lifecycle.inventory.selectors.kept import holds_on, requests_on
from lifecycle.inventory.selectors.table_columns import COLUMNS, tables_columns
from lifecycle.inventory.selectors.table_health import EXPIRY, PATHS, tables_health
from lifecycle.inventory.ui.expiring import LIFECYCLE as KEY
from lifecycle.inventory.ui.expiring import PARTITIONS, partitions_page
from portal.access.models import User
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.services.columns import register_table_columns
from portal.catalog.services.registry import (
    Action,
    HealthPart,
    Strip,
    TableTab,
    register_database_link,
    register_table_action,
    register_table_health,
    register_table_strips,
    register_table_tab,
)
from portal.ui.tables.addresses import table_url


def register_partitions_tab() -> None:
    """Add the tab, parts of the health, columns, strips, and what to do when something is due."""
    register_table_tab(TableTab(PARTITIONS, "Partitions", 20, _page, was_scanned, shown_with=PATHS))
    register_table_health(
        tables_health,
        HealthPart(PATHS, "Paths", 10, KEY, preset="Path violations"),
        HealthPart(EXPIRY, "Expiry", 20, KEY, preset="Due"),
    )
    register_table_columns(tables_columns, *(replace(one, tab=KEY) for one in COLUMNS))
    register_table_strips(strips, tab=KEY)
    register_database_link(database_page)
    register_table_action(answer_due)


def strips(table: Table, user: User) -> list[Strip]:
    """Return the holds on a table and what people asked of it that waits."""
    now, found = timezone.now(), []
    for hold in holds_on(table.lake, table.db, table.name, now=now):
        verb = "are kept" if hold.n_partitions > 1 else "is kept"
        what = f"{hold.what} {verb}" if hold.what else "Kept"
        until = f"until {timezone.localtime(hold.until):%Y-%m-%d}" if hold.until else "with no end"
        url = list_url("holds", table.lake, db=table.db, table=hold.table)
        text = f"{what} {until} by {hold.placed_by}: {hold.reason}."
        found.append(Strip(text, url, "See or end the hold", icon="lock"))
    for who, what in requests_on(table.lake, table.db, table.name):
        url = table_url(table.lake, table.db, table.name, KEY)
        text = f"{what}, requested by {who}, waits for an answer."
        found.append(Strip(text, url, "See it", icon="clock", tone="warn"))
    return found


def database_page(lake: str, db: str, user: User) -> tuple[str, str] | None:
    """Return the page of a database's mode, days and last scan."""
    seen = databases_visible(lake, user).filter(db=db).exists()
    return ("Lifecycle of the database", database_url(lake, db)) if seen else None


def answer_due(table: Table, user: User, parts: Mapping[str, Finding]) -> Action | None:
    """Offer to answer what is due, where something is."""
    expiry = parts.get(EXPIRY)
    if expiry is None or expiry.level < HealthLevel.WARN:
        return None
    url = table_url(table.lake, table.db, table.name, KEY)
    return Action("Answer what is due", url, "calendar-due", 30)


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    return partitions_page(request, table.db, table.name)


def was_scanned(table: Table, user: User) -> bool:
    """Whether the last scan saw the table."""
    seen = tables_visible(table.lake, user).filter(db=table.db, table=table.name)
    return seen.exists()
