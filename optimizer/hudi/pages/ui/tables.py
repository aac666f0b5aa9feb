"""The page of all Hudi tables: how well each is, what is wrong, what waits, what is done."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from optimizer.core.ui.columns import cell
from optimizer.core.ui.table_links import files_url
from optimizer.hudi.tables.selectors.tables import (
    HUDI_ORDERS,
    HudiFilter,
    hudi_visible,
    n_critical_tables,
)
from optimizer.models import HudiTable
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response


def hudi_url(row: HudiTable) -> str:
    """Return the page of a table."""
    return files_url(row)


HUDI_TABLES = ListSpec(
    template="optimizer/hudi_tables.html",
    caption="Hudi tables and their health",
    columns=(
        cell("Table", "hudi_table", sort="name"),
        cell("Health and deductions", "hudi_health", sort="health", help="0 to 100"),
        cell("Trend", "trend", help="Health at the last inspections", shown_from="desktop"),
        cell("Findings", "hudi_findings", sort="critical", help="Findings of the last inspection"),
        cell(
            "Plans pending", "hudi_pending", sort="pending", is_number=True, shown_from="tablet"
        ),
        cell(
            "View stale since",
            "hudi_behind",
            sort="stale",
            help="Since when something stands only in logs, which the read-optimized view lacks",
            shown_from="tablet",
        ),
        cell("Last write, last inspection", "hudi_times", sort="written", shown_from="desktop"),
        cell("Current and planned work", "hudi_decision", is_wide=True),
    ),
    orders=HUDI_ORDERS,
    filename="hudi-tables.csv",
    exports=(
        "lake", "db", "table", "location", "owner", "table_type", "version", "health",
        "n_critical", "n_warnings", "n_pending", "n_stuck", "n_file_groups", "base_bytes",
        "log_bytes", "stale_since", "written_at", "event_at", "inspected_at", "inspection_error",
        "decision", "decided_at", "is_paused", "paused_by", "paused_reason", "is_deleted",
        "deleted_at",
    ),
)  # fmt: skip


@require_GET
def hudi_tables(request: HttpRequest) -> HttpResponseBase:
    """List the tables that the person may see, the worst first."""
    lake, user = current_lake(request), person(request)
    filterset = HudiFilter(request.GET, queryset=hudi_visible(lake, user))
    context = {"n_critical": n_critical_tables(lake, user)}
    return list_response(request, HUDI_TABLES, filterset=filterset, context=context)
