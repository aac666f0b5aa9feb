"""What a person asks of a table: a plan, to be optimized now, a pause, its end, a removal."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.core.domain.tasks import TaskKind
from optimizer.core.services.actions import table_pause, table_resume
from optimizer.core.ui.table_links import page_after
from optimizer.iceberg.indexing.ui.table_tab import INDEXES
from optimizer.iceberg.planner.services.actions import (
    dry_run,
    kind_for_now,
    optimize_now,
    removal_ask,
)
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.frame.context import person
from portal.ui.tables.addresses import tab_or


@require_GET
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what would be done to the table now, what that costs, and what is not done and why."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    found = dry_run(table, user=user, now=timezone.now())
    return render(request, "optimizer/plan.html", {"iceberg": table, "plan": found})


@require_POST
def run_now(request: HttpRequest, table_id: int) -> HttpResponse:
    """Queue the table for the next run."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    reason = request.POST.get("reason", "")
    optimize_now(table, kind_for_now(table), user=user, reason=reason, now=timezone.now())
    messages.success(request, "It is in the queue and begins with the next run.")
    return HttpResponseRedirect(page_after(table, user))


@require_POST
def index_now(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have missing indexes built, or those that no policy names any more dropped."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    reason = request.POST.get("reason", "")
    optimize_now(table, TaskKind.INDEX, user=user, reason=reason, now=timezone.now())
    messages.success(request, "It is in the queue and begins with the next run.")
    name, own = (table.lake, table.db, table.table), page_after(table, user)
    return HttpResponseRedirect(tab_or(name, INDEXES, user=user, otherwise=own))


@require_POST
def pause(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have nothing begun on the table."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    table_pause(table, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "Nothing is begun on the table from now on.")
    return HttpResponseRedirect(page_after(table, user))


@require_POST
def resume(request: HttpRequest, table_id: int) -> HttpResponse:
    """Let the table be optimized again."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    table_resume(table, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "The table is inspected and optimized again.")
    return HttpResponseRedirect(page_after(table, user))


@require_POST
def ask(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have a list created for a table."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    kind, reason = request.POST.get("kind", ""), request.POST.get("reason", "")
    removal_ask(table, kind, user=user, reason=reason, now=timezone.now())
    messages.success(
        request, "The next run draws the list up. Nothing is dropped before others agree."
    )
    return HttpResponseRedirect(page_after(table, user))
