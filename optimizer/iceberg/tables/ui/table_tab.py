"""The tab of an Iceberg table's files on the page of the table, and its part of the health."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from optimizer.core.selectors.table_health import FILES, files_of
from optimizer.core.ui.table_tab import FILES_PART, View, compact, moved
from optimizer.iceberg.tables.selectors.tables import get_table_for_user, tables_named, tables_of
from optimizer.iceberg.tables.ui import policy, table
from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.services.registry import (
    Findings,
    TableTab,
    register_table_action,
    register_table_health,
    register_table_tab,
)
from portal.lake.errors import NotVisible

FORMAT = "iceberg"
PARTS: dict[str, View] = {
    "": table.health,
    "files": table.files,
    "layout": table.layout,
    "commits": table.commits,
    "tasks": table.tasks,
    "policy": policy.policy,
}


def register_files_tab() -> None:
    """Add the tab, the part of the health, and what to do when files are bad."""
    register_table_tab(
        TableTab(
            FILES,
            "Files",
            40,
            _page,
            _is_known,
            frozenset({FORMAT}),
            frozenset(PARTS),
            shown_with=FILES,
        )
    )
    register_table_health(tables_health, FILES_PART)
    register_table_action(compact)


def tables_health(lake: str, tables: Sequence[Table]) -> Findings:
    """Return the part of each Iceberg table."""
    keys = {(one.db, one.name): one.pk for one in tables if one.format.lower() == FORMAT}
    rows = tables_named(lake, keys) if keys else ()
    return {keys[row.db, row.table]: {FILES: files_of(row)} for row in rows}


def moved_part(part: str) -> View:
    """Return the view of a former address."""
    return moved(part, PARTS[part], get_table_for_user)


def _page(request: HttpRequest, found: Table, part: str) -> HttpResponseBase:
    row = tables_named(found.lake, [(found.db, found.name)]).first()
    if row is None:
        raise NotVisible("optimizer.table", "There is no such table for you.", table=str(found))
    return PARTS[part](request, row.pk)


def _is_known(found: Table, user: User) -> bool:
    rows = tables_of(found.lake, user).filter(db=found.db, table=found.name, is_deleted=False)
    return rows.exists()
