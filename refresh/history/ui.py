"""The pages of history: every statement that was sent, and one of them on every front end."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from refresh.core.selectors.addresses import read_addresses
from refresh.history.selectors import (
    HISTORY_ORDERS,
    HistoryFilter,
    get_refresh_for_user,
    history_visible,
)
from refresh.models import Refresh


def statement_url(row: Refresh) -> str:
    """Return the page of a statement."""
    return reverse("refresh:statement", args=[row.public_id])


HISTORY = ListSpec(
    template="refresh/history.html",
    caption="Statements",
    columns=(
        Column(key="began_at", title="Began", kind="ago", sort="began", url=statement_url),
        Column(
            key="", title="Table", kind="template", template="refresh/_cell_statement_table.html"
        ),
        Column(key="cluster.name", title="Cluster"),
        Column(key="", title="What", kind="template", template="refresh/_cell_what.html"),
        Column(key="", title="Cause", kind="template", template="refresh/_cell_causes.html"),
        Column(key="lane", title="Lane", kind="template", template="refresh/_cell_lane.html"),
        Column(key="waited", title="Waited", kind="template", template="refresh/_cell_span.html"),
        Column(
            key="seconds", title="Duration", kind="template", template="refresh/_cell_span.html"
        ),
        Column(
            key="", title="Front ends", kind="template", template="refresh/_cell_outcomes.html"
        ),
        Column(
            key="",
            title="Outcome",
            kind="template",
            template="refresh/_cell_ending.html",
            is_wide=True,
        ),
    ),
    orders=HISTORY_ORDERS,
    filename="refresh-history.csv",
    exports=(
        "public_id", "cluster.name", "target.catalog", "target.db", "target.table", "kind",
        "n_partitions", "causes", "get_lane_display", "waited_since", "began_at", "ended_at",
        "waited", "seconds", "taker_address", "ending", "code", "message",
    ),
)  # fmt: skip


@require_GET
def history(request: HttpRequest) -> HttpResponseBase:
    """List the statements that the person may see, newest first."""
    lake, user = current_lake(request), person(request)
    filterset = HistoryFilter(request.GET, queryset=history_visible(lake, user))
    return list_response(request, HISTORY, filterset=filterset, context={}, complete=read_addresses)


@require_GET
def statement(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show one statement with its outcome on every front end."""
    found = get_refresh_for_user(public_id, person(request))
    context = {"refresh": found, "outcomes": found.outcomes, "now": timezone.now()}
    return render(request, "refresh/statement.html", context)


def register_pages() -> None:
    """Add the navigation."""
    register_page(Page("refresh", "History", "refresh:history", 40, STAFF))
