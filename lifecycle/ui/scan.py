"""The button that starts a scan now."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from lifecycle.services.scan import scan_request
from lifecycle.ui.lists import person
from portal.runs.selectors import broker_problem
from portal.ui.frame import current_lake


@login_required
@require_POST
def scan_now(request: HttpRequest) -> HttpResponseRedirect:
    """Start a scan, or go to the one that is under way."""
    user = person(request)
    run = scan_request(
        current_lake(request),
        user=user,
        now=timezone.now(),
        reason=request.POST.get("reason", "") or "asked for on the page",
    )
    if broker_problem():
        messages.warning(request, "The scan is asked for and waits for the message broker.")
    else:
        messages.success(request, "The scan is under way; what you see stays until it is done.")
    return HttpResponseRedirect(reverse("ui:run", args=[run.pk]))
