"""What tables of every maintained format add to the page of a table: one tab for their files."""

from collections.abc import Callable, Mapping
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from optimizer.core.models import MaintainedTable
from optimizer.core.selectors.table_health import FILES
from portal.access.models import User
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.services.registry import Action, HealthPart
from portal.ui.frame.context import person
from portal.ui.tables.addresses import moved_to_tab, table_url

View = Callable[[HttpRequest, int], HttpResponseBase]
FILES_PART = HealthPart(FILES, "Files", 40, FILES, preset="Bad files")


def compact(table: Table, user: User, parts: Mapping[str, Finding]) -> Action | None:
    """Offer the tab that repairs files, where those of a table are bad."""
    files = parts.get(FILES)
    if files is None or files.level < HealthLevel.BAD:
        return None
    return Action(
        "Repair its files", table_url(table.lake, table.db, table.name, FILES), "tool", 20
    )


def moved(part: str, view: View, row_of: Callable[[int, User], MaintainedTable]) -> View:
    """Let the former address of a page lead to its tab, while the table is there."""

    @wraps(view)
    def at_former_address(request: HttpRequest, table_id: int) -> HttpResponseBase:
        row = row_of(table_id, person(request))
        to_tab = None
        if not row.is_deleted:
            to_tab = moved_to_tab(request, row.db, row.table, FILES, part, lake=row.lake)
        return to_tab or view(request, table_id)

    return at_former_address
