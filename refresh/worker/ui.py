"""The page of the queue: what runs, what waits in which lane, what is tried again and when."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from refresh.core.selectors.addresses import read_addresses
from refresh.worker.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible

WAITING = ListSpec(
    template="refresh/queue.html",
    caption="What waits",
    columns=(
        Column(key="", title="Table", kind="template", template="refresh/_cell_table.html"),
        Column(key="cluster.name", title="Cluster"),
        Column(key="lane", title="Lane", kind="template", template="refresh/_cell_lane.html"),
        Column(key="waits_since", title="Waits since", kind="ago", sort="since"),
        Column(key="not_before", title="Not before", kind="ago"),
        Column(key="n_tries", title="Failed attempts", kind="count"),
        Column(key="problem", title="Last problem", is_wide=True),
    ),
    orders=QUEUE_ORDERS,
    filename="refresh-queue.csv",
    exports=(
        "cluster.name", "catalog", "db", "table", "watched.lake", "watched.db", "watched.table",
        "get_lane_display", "is_urgent", "waits_since", "due_at", "not_before", "n_tries",
        "only_on_address", "expected_seconds", "problem",
    ),
)  # fmt: skip


@require_GET
def queue(request: HttpRequest) -> HttpResponseBase:
    """Show the queue as it is now; its upper part keeps itself up to date."""
    lake, user = current_lake(request), person(request)
    filterset = QueueFilter(request.GET, queryset=waiting_visible(lake, user))
    context = _live(request)
    return list_response(
        request, WAITING, filterset=filterset, context=context, complete=read_addresses
    )


@require_GET
def queue_live(request: HttpRequest) -> HttpResponse:
    """Return the part of the page that keeps itself up to date."""
    return render(request, "refresh/_queue_live.html", _live(request))


def _live(request: HttpRequest) -> dict[str, Any]:
    lake, user, now = current_lake(request), person(request), timezone.now()
    found = queue_now(lake, user)
    running = [
        (row, (now - row.running_since).total_seconds())
        for row in found.running
        if row.running_since is not None
    ]
    return {"queue": found, "running": running, "queue_lake": lake}


def register_pages() -> None:
    """Add the navigation."""
    register_page(Page("refresh", "Queue", "refresh:queue", 30, STAFF))
