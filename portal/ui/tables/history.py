"""The tab of what happened to a table: decisions, drops, restores and settings."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import AuditFilter
from portal.ui.selectors import events_of_table
from portal.ui.views.audit import COLUMNS, ORDERS

HISTORY = ListSpec(
    template="catalog/history.html",
    caption="What happened to the table",
    columns=COLUMNS,
    orders=ORDERS,
    filename="table-history.csv",
    exports=tuple(column.key for column in COLUMNS),
)


def register_history_tab() -> None:
    """Add the tab; every table has a history."""
    register_table_tab(TableTab("history", "History", 90, history, _always, outlives=True))


def history(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    """List the audit events of a table and of its partitions, newest first."""
    events = events_of_table(table.lake, table.db, table.name)
    filterset = AuditFilter(request.GET, queryset=events)
    return list_response(request, HISTORY, filterset=filterset, context={})


def _always(table: Table, user: User) -> bool:
    return True
