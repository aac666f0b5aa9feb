"""The page of the queue: what runs, what waits for what, and what ended lately."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from optimizer.console.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible
from optimizer.core.ui.columns import cell
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

WAITING = ListSpec(
    template="optimizer/queue.html",
    caption="What waits",
    columns=(
        cell("Table", "task_table"),
        cell("Work", "work"),
        cell("Cancel", "cancel"),
        cell("State, and what it waits for", "task_state", is_wide=True),
        cell("Priority", "priority", sort="score", help="By gain over cost, and by age"),
        Column(key="reason", title="Reason", is_wide=True),
        cell("Expected", "estimate"),
        Column(key="created_at", title="Since", kind="ago", sort="noted"),
    ),
    orders=QUEUE_ORDERS,
    filename="optimizer-queue.csv",
    exports=(
        "id", "table_format", "subject.lake", "subject.db", "subject.table", "subject.owner",
        "kind", "state", "waits_for", "score", "reason", "layout", "instants", "estimate",
        "requested_by", "created_at", "n_tries",
    ),
)  # fmt: skip


@require_GET
def queue(request: HttpRequest) -> HttpResponseBase:
    """Show the queue as it is now; what runs and what ended keep themselves up to date."""
    lake, user = current_lake(request), person(request)
    filterset = QueueFilter(request.GET, queryset=waiting_visible(lake, user))
    return list_response(request, WAITING, filterset=filterset, context=_live(request))


@require_GET
def queue_live(request: HttpRequest) -> HttpResponse:
    """Return one of the parts of the page that keep themselves up to date."""
    part = "_queue_ended" if request.GET.get("part") == "ended" else "_queue_live"
    return render(request, f"optimizer/{part}.html", _live(request))


def _live(request: HttpRequest) -> dict[str, Any]:
    lake = current_lake(request)
    return {"queue": queue_now(lake, person(request), now=timezone.now()), "queue_lake": lake}
