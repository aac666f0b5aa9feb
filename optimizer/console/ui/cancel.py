"""The page that asks why a task shall not be done."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from optimizer.core.selectors.tasks import get_task_for_user
from optimizer.core.services.actions import task_cancel
from optimizer.core.ui.table_links import tasks_page_after
from portal.ui.forms import ReasonForm
from portal.ui.frame.context import person


@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, task_id: int) -> HttpResponse:
    """Ask why a task shall not be done, and take it back or have its run leave it."""
    user = person(request)
    task = get_task_for_user(task_id, user)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        task_cancel(task, user=user, reason=form.cleaned_data["reason"], now=timezone.now())
        said = "Its run was asked to stop the task; that takes some seconds."
        messages.success(request, said if task.is_stopping else "It was removed from the queue.")
        return HttpResponseRedirect(tasks_page_after(task, user))
    status = 400 if form.errors else 200
    context = {"task": task, "form": form}
    return render(request, "optimizer/task_cancel.html", context, status=status)
