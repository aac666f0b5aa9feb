"""What a person asks of a table on its page: a refresh, a repair, to be left out or taken in."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from portal.lake.errors import RuleViolation
from portal.ui.frame.context import person
from refresh.freshness.selectors.tables import get_target_for_user
from refresh.freshness.services.actions import refresh_ask, repair_ask, table_opt_in, table_opt_out
from refresh.freshness.ui.forms import AskForm
from refresh.freshness.ui.tables import page_after, table_page


@require_POST
def ask(request: HttpRequest, target_id: int) -> HttpResponse:
    """Ask for a refresh of the table or of the partitions named."""
    user = person(request)
    target = get_target_for_user(target_id, user)
    form = AskForm(request.POST)
    if not form.is_valid():
        return table_page(request, target, form, status=400)
    try:
        refresh_ask(target, user=user, partitions=form.names(), now=timezone.now())
    except RuleViolation as error:
        form.add_error(None, error.message)
        return table_page(request, target, form, status=400)
    messages.success(request, "It is in the queue; this page shows when it is done.")
    return HttpResponseRedirect(page_after(target, user))


@require_POST
def repair(request: HttpRequest, target_id: int) -> HttpResponse:
    """Ask for the table because of one front end."""
    user = person(request)
    target = get_target_for_user(target_id, user)
    name = request.POST.get("front_end", "")
    repair_ask(target, front_end=name, user=user, now=timezone.now())
    messages.success(request, f"The table is in the queue because of {name}.")
    return HttpResponseRedirect(page_after(target, user))


@require_POST
def opt_out(request: HttpRequest, target_id: int) -> HttpResponse:
    """Leave the table out."""
    user = person(request)
    target = get_target_for_user(target_id, user)
    table_opt_out(target, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "Auto-refresh of the table is off.")
    return HttpResponseRedirect(page_after(target, user))


@require_POST
def opt_in(request: HttpRequest, target_id: int) -> HttpResponse:
    """Take the table in again."""
    user = person(request)
    target = get_target_for_user(target_id, user)
    table_opt_in(target, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "The table is refreshed again; what changed meanwhile is queued.")
    return HttpResponseRedirect(page_after(target, user))
