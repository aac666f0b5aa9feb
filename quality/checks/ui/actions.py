"""Actions on checks: measure now, pause, delete, ask for an override and confirm it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from portal.lake.errors import RuleViolation
from portal.ui.forms import whole_number
from portal.ui.frame.context import person
from quality.checks.selectors.check_sets import get_check_set_for_user, get_result_for_user
from quality.checks.services.declaring import checks_delete, checks_pause
from quality.checks.services.overrides import override_ask, override_confirm
from quality.checks.services.requests import check_request
from quality.checks.ui.tables import result_url, set_url


@require_POST
def check_run_view(request: HttpRequest, set_id: int) -> HttpResponseRedirect:
    """Measure a table now: the windows that are named, or those that are due."""
    user = person(request)
    found = get_check_set_for_user(set_id, user)
    windows = request.POST.get("windows", "").split()
    check_request(found, windows=windows, by=user.username, now=timezone.now())
    messages.success(request, "It is being measured; the results stand here when it is done.")
    return HttpResponseRedirect(set_url(found))


@require_POST
def check_pause_view(request: HttpRequest, set_id: int) -> HttpResponseRedirect:
    """Stop measuring a table on schedule, or go on."""
    user = person(request)
    found = get_check_set_for_user(set_id, user)
    paused = request.POST.get("paused") == "1"
    checks_pause(found, paused=paused, user=user, now=timezone.now())
    messages.success(request, "It is paused." if paused else "It is measured on schedule again.")
    return HttpResponseRedirect(set_url(found))


@require_POST
def check_delete_view(request: HttpRequest, set_id: int) -> HttpResponseRedirect:
    """Delete a table's checks with all that was measured."""
    user = person(request)
    found = get_check_set_for_user(set_id, user)
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise RuleViolation("checks.version", "Give the version that you read.", field="version")
    checks_delete(found, version=version, user=user, now=timezone.now())
    messages.success(request, f"{found} has no checks any more.")
    return HttpResponseRedirect(f"{reverse('readiness:checks')}?lake={found.lake}")


@require_POST
def check_override_view(request: HttpRequest, result_id: int) -> HttpResponseRedirect:
    """Ask to override a rule for a window."""
    user = person(request)
    found = get_result_for_user(result_id, user)
    reason = request.POST.get("reason", "")
    override_ask(found, reason=reason, user=user, now=timezone.now())
    messages.success(request, "Somebody else has to confirm it.")
    return HttpResponseRedirect(result_url(found))


@require_POST
def check_override_confirm_view(request: HttpRequest, result_id: int) -> HttpResponseRedirect:
    """Confirm the override that somebody else asked for."""
    user = person(request)
    found = get_result_for_user(result_id, user)
    override_confirm(found, user=user, now=timezone.now())
    messages.success(request, "The rule is overridden for this window.")
    return HttpResponseRedirect(result_url(found))
