"""The pages of removals: what would go and why, the word of those who approve, what went."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from optimizer.core.ui.columns import cell
from optimizer.models import RemovalPlan
from optimizer.removals.selectors import (
    REMOVAL_ORDERS,
    RemovalFilter,
    get_removal_for_user,
    quarantine_of,
    removals_visible,
)
from optimizer.removals.services.removals import REMOVALS
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from portal.ui.proposals import decide_page, proposal_context, reasoned_page


def removal_url(row: RemovalPlan) -> str:
    """Return the page of a list."""
    return reverse("optimizer:removal", args=[row.pk])


REMOVAL_LIST = ListSpec(
    template="optimizer/removals.html",
    caption="Lists of what would be removed",
    columns=(
        Column(key="title", title="List", url=removal_url, is_wide=True),
        cell("State", "removal_state"),
        cell("Work", "removal_work"),
        cell("Table", "task_table"),
        Column(key="n_items", title="On the list", kind="count"),
        Column(key="n_files", title="Files", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes", sort="bytes"),
        Column(key="created_at", title="Created", kind="ago", sort="created"),
        Column(key="outcome", title="Result", is_wide=True),
    ),
    orders=REMOVAL_ORDERS,
    filename="removals.csv",
    exports=(
        "id", "state", "kind", "table_format", "subject", "n_items", "n_files", "n_bytes",
        "snapshot_id", "reason", "created_at", "ended_at", "ended_by", "outcome", "digest", "run",
    ),
)  # fmt: skip


@require_GET
def removals(request: HttpRequest) -> HttpResponseBase:
    """List what was proposed for the tables that the person may see."""
    rows = removals_visible(current_lake(request), person(request))
    filterset = RemovalFilter(request.GET, queryset=rows)
    return list_response(request, REMOVAL_LIST, filterset=filterset, context={})


@require_GET
def removal(request: HttpRequest, removal_id: UUID) -> HttpResponse:
    """Show one list: what would go, what stays and why, who decides, and what came of it."""
    user = person(request)
    found = get_removal_for_user(removal_id, user=user)
    context = {
        "found": found,
        "subject": found.subject,
        **proposal_context(REMOVALS, found, user, decide="optimizer:removal-decide"),
        "quarantine": quarantine_of(found),
    }
    return render(request, "optimizer/removal.html", context)


decide = decide_page(REMOVALS, removal_url)
withdraw = reasoned_page(
    REMOVALS.withdraw, removal_url, done="Request withdrawn. Nothing was removed."
)
