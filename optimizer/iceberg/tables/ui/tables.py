"""The page of all Iceberg tables: how healthy each is, how that went, and what is done about it."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from optimizer.core.ui.columns import cell
from optimizer.core.ui.table_links import files_url
from optimizer.iceberg.tables.selectors.tables import (
    TABLE_ORDERS,
    TableFilter,
    n_poor,
    tables_visible,
)
from optimizer.models import IcebergTable
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


def table_url(row: IcebergTable) -> str:
    """Return the page of a table."""
    return files_url(row)


TABLES = ListSpec(
    template="optimizer/tables.html",
    caption="Iceberg tables and their health",
    columns=(
        cell("Table", "table"),
        cell("Health", "health", sort="health", help="0 to 100; the table's page says why"),
        cell("Trend", "trend", help="Health at the last inspections"),
        Column(key="n_files", title="Files", kind="count", sort="files"),
        cell("Small", "small", sort="small", is_number=True, help="Counted at the last inspection"),
        Column(key="n_bytes", title="Size", kind="bytes", sort="bytes"),
        Column(key="n_delete_files", title="Delete files", kind="count", sort="deletes"),
        Column(key="committed_at", title="Last commit", kind="ago", sort="commit"),
        cell("Current and planned work", "decision", sort="score", is_wide=True),
    ),
    orders=TABLE_ORDERS,
    filename="iceberg-tables.csv",
    exports=(
        "lake", "db", "table", "uuid", "owner", "health", "n_files", "n_small", "small_bytes",
        "n_bytes", "n_rows", "n_delete_files", "n_partitions", "n_manifests", "n_snapshots",
        "format_version", "committed_at", "event_at", "inspected_at", "inspection_error",
        "decision",
        "score", "is_paused", "paused_by", "paused_reason", "is_deleted", "deleted_at",
    ),
)  # fmt: skip


@require_GET
def tables(request: HttpRequest) -> HttpResponseBase:
    """List the tables that the person may see, the worst first."""
    lake, user = current_lake(request), person(request)
    filterset = TableFilter(request.GET, queryset=tables_visible(lake, user))
    context = {"n_poor": n_poor(lake, user)}
    return list_response(request, TABLES, filterset=filterset, context=context)
