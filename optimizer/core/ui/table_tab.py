"""What tables of every maintained format add to the page of a table: one tab for their files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from optimizer.core.models import MaintainedTable
from optimizer.core.selectors.table_health import FILES
from portal.access.models import User
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.services.columns import TableColumn, Values, register_table_columns
from portal.catalog.services.registry import (
    Action,
    Findings,
    HealthPart,
    TableTab,
    register_table_action,
    register_table_health,
    register_table_tab,
)
from portal.lake.errors import NotVisible
from portal.ui.frame.context import person
from portal.ui.tables.addresses import moved_to_tab, table_url

View = Callable[[HttpRequest, int], HttpResponseBase]
FILES_PART = HealthPart(FILES, "Files", 40, FILES, preset="Bad files")
COLUMNS = (
    TableColumn("file_score", "File score", 80, "count", FILES, help="0 to 100, by its files"),
    TableColumn("inspected_at", "Inspected", 90, "ago"),
)


def compact(table: Table, user: User, parts: Mapping[str, Finding]) -> Action | None:
    """Offer the tab that repairs files, where those of a table are bad."""
    files = parts.get(FILES)
    if files is None or files.level < HealthLevel.BAD:
        return None
    return Action(
        "Repair its files", table_url(table.lake, table.db, table.name, FILES), "tool", 20
    )


@dataclass(frozen=True)
class FilesTab:
    """The tab of the files of tables of one format, and its part of their health.

    `parts` are the views behind its sub-tabs, which take the number of the format's own row.
    `named` returns the rows that have some names now, `visible` those that a person may see, and
    `row_of` one of them; `judge` says how it stands. `missing` is the code of there being none.
    """

    format: str
    parts: Mapping[str, View]
    named: Callable[[str, Iterable[tuple[str, str]]], QuerySet[Any]]
    visible: Callable[[str, User], QuerySet[Any]]
    row_of: Callable[[int, User], MaintainedTable]
    judge: Callable[[Any], Finding]
    missing: str

    def register(self) -> None:
        """Add the tab, the part of the health, columns, and what to do when files are bad."""
        register_table_tab(
            TableTab(
                FILES,
                "Files",
                40,
                self._page,
                self._is_known,
                frozenset({self.format}),
                frozenset(self.parts),
                shown_with=FILES,
            )
        )
        register_table_health(self.tables_health, FILES_PART)
        register_table_columns(self.tables_columns, *COLUMNS)
        register_table_action(compact)

    def tables_health(self, lake: str, tables: Sequence[Table]) -> Findings:
        """Return the part of each table of the format."""
        return {key: {FILES: self.judge(row)} for key, row in self._rows(lake, tables)}

    def tables_columns(self, lake: str, tables: Sequence[Table]) -> Values:
        """Return the columns of each table of the format."""
        return {
            key: {
                "file_score": None if row.health is None else round(row.health),
                "inspected_at": row.inspected_at,
            }
            for key, row in self._rows(lake, tables)
        }

    def _rows(self, lake: str, tables: Sequence[Table]) -> list[tuple[int, Any]]:
        keys = {(one.db, one.name): one.pk for one in tables if one.format.lower() == self.format}
        rows = self.named(lake, keys) if keys else ()
        return [(keys[row.db, row.table], row) for row in rows]

    def moved_part(self, part: str) -> View:
        """Let the former address of a page lead to its tab, while the table is there."""
        view = self.parts[part]

        @wraps(view)
        def at_former_address(request: HttpRequest, table_id: int) -> HttpResponseBase:
            row = self.row_of(table_id, person(request))
            to_tab = None
            if not row.is_deleted:
                to_tab = moved_to_tab(request, row.db, row.table, FILES, part, lake=row.lake)
            return to_tab or view(request, table_id)

        return at_former_address

    def _page(self, request: HttpRequest, found: Table, part: str) -> HttpResponseBase:
        row = self.named(found.lake, [(found.db, found.name)]).first()
        if row is None:
            raise NotVisible(self.missing, "There is no such table for you.", table=str(found))
        return self.parts[part](request, row.pk)

    def _is_known(self, found: Table, user: User) -> bool:
        rows = self.visible(found.lake, user)
        return rows.filter(db=found.db, table=found.name, is_deleted=False).exists()
