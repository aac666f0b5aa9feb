"""What a person asks of a table: a plan, to be optimized now, a pause, its end, a task's end."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from optimizer.selectors.tables import get_table_for_user
from optimizer.selectors.tasks import get_task_for_user
from optimizer.services.asking import (
    dry_run,
    kind_for_now,
    optimize_now,
    table_pause,
    table_resume,
    task_cancel,
)
from optimizer.ui.subjects import tasks_page
from optimizer.ui.tables import table_url
from portal.ui.forms import ReasonForm
from portal.ui.frame import person


@login_required
@require_GET
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what would be done to the table now, what that costs, and what is not done and why."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    found = dry_run(table, user=user, now=timezone.now())
    return render(request, "optimizer/plan.html", {"iceberg": table, "plan": found})


@login_required
@require_POST
def run_now(request: HttpRequest, table_id: int) -> HttpResponse:
    """Queue the table for the next run."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    reason = request.POST.get("reason", "")
    optimize_now(table, kind_for_now(table), user=user, reason=reason, now=timezone.now())
    messages.success(request, "It is in the queue and begins with the next run.")
    return HttpResponseRedirect(table_url(table))


@login_required
@require_POST
def pause(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have nothing begun on the table."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    table_pause(table, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "Nothing is begun on the table from now on.")
    return HttpResponseRedirect(table_url(table))


@login_required
@require_POST
def resume(request: HttpRequest, table_id: int) -> HttpResponse:
    """Let the table be optimized again."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    table_resume(table, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "The table is looked at and optimized again.")
    return HttpResponseRedirect(table_url(table))


@login_required
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, task_id: int) -> HttpResponse:
    """Ask why a task shall not be done, and take it back or have its run leave it."""
    user = person(request)
    task = get_task_for_user(task_id, user)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        task_cancel(task, user=user, reason=form.cleaned_data["reason"], now=timezone.now())
        said = "Its run is told to leave it; that takes some seconds."
        messages.success(request, said if task.is_stopping else "It is taken out of the queue.")
        return HttpResponseRedirect(tasks_page(task))
    status = 400 if form.errors else 200
    context = {"task": task, "form": form}
    return render(request, "optimizer/task_cancel.html", context, status=status)
