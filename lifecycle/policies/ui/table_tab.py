"""The tab of a table's lifecycle: its policy and what-if, what keeps it, requests and notices."""

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from lifecycle.inventory.selectors.table_health import PATHS
from lifecycle.inventory.ui.expiring import LIFECYCLE, PARTITIONS, asks_for_items
from lifecycle.inventory.ui.table_tab import was_scanned
from lifecycle.policies.ui.policy import policy_page
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.tables.addresses import table_path


def register_lifecycle_tab() -> None:
    """Add the tab."""
    register_table_tab(TableTab(LIFECYCLE, "Lifecycle", 22, _page, was_scanned, shown_with=PATHS))


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    """Show the tab; an address of the list of partitions, which stood here, leads to theirs."""
    if asks_for_items(request):
        path = table_path(table.db, table.name, PARTITIONS)
        return HttpResponseRedirect(f"{path}?{request.GET.urlencode()}")
    return policy_page(request, table.db, table.name)
