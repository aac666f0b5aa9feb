"""The page of savings: what drops took out of the lake, and how much of it is free by now."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from lifecycle.restore.selectors.savings import (
    SAVINGS_ORDERS,
    SavingsFilter,
    savings_by_month,
    savings_visible,
)
from portal.ui.charts.figures import Axes, month_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

SAVINGS = ListSpec(
    template="lifecycle/savings.html",
    caption="Savings by owner and database",
    columns=(
        Column(key="table_owner", title="Owner", sort="owner"),
        Column(key="db", title="Database", kind="code"),
        Column(key="n_dropped", title="Items dropped", kind="count"),
        Column(key="n_restored", title="Restored", kind="count"),
        Column(key="dropped_bytes", title="Dropped", kind="bytes"),
        Column(key="restored_bytes", title="Restored size", kind="bytes"),
        Column(key="waiting_bytes", title="In backup", kind="bytes", help="Freed by its purge."),
        Column(key="purged_bytes", title="Permanently freed", kind="bytes", sort="-freed"),
    ),
    orders=SAVINGS_ORDERS,
    filename="savings.csv",
    exports=(
        "table_owner", "db", "n_dropped", "n_restored", "dropped_bytes", "restored_bytes",
        "waiting_bytes", "purged_bytes",
    ),
)  # fmt: skip


@require_GET
def savings(request: HttpRequest) -> HttpResponseBase:
    """List the savings of what the person answers for, with their months as a picture."""
    lake, user = current_lake(request), person(request)
    chart = month_chart(
        "savings",
        title="Savings by the month of their approval",
        months=savings_by_month(lake, user),
        summed="freed for good",
        axes=Axes("Month", "Size", "bytes"),
    )
    filterset = SavingsFilter(request.GET, queryset=savings_visible(lake, user))
    return list_response(request, SAVINGS, filterset=filterset, context={"chart": chart})
