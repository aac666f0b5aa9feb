"""Actions on an incident: acknowledge, assign, resolve, reopen."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from portal.lake.errors import RuleViolation
from portal.ui.forms import whole_number
from portal.ui.frame.context import person
from quality.incidents.domain.states import Resolution
from quality.incidents.selectors.incidents import get_incident_for_user
from quality.incidents.services.acting import (
    Act,
    incident_acknowledge,
    incident_assign,
    incident_reopen,
    incident_resolve,
)
from quality.incidents.ui.tables import incident_url


@require_POST
def incident_acknowledge_view(request: HttpRequest, incident_id: int) -> HttpResponseRedirect:
    """Take an incident."""
    act = _act(request)
    found = incident_acknowledge(get_incident_for_user(incident_id, act.user), act)
    messages.success(request, "It is yours now.")
    return HttpResponseRedirect(incident_url(found))


@require_POST
def incident_assign_view(request: HttpRequest, incident_id: int) -> HttpResponseRedirect:
    """Give an incident to somebody."""
    act = _act(request)
    to = request.POST.get("to", "")
    found = incident_assign(get_incident_for_user(incident_id, act.user), act, to=to)
    messages.success(request, f"It is assigned to {found.assignee}, who gets a mail.")
    return HttpResponseRedirect(incident_url(found))


@require_POST
def incident_resolve_view(request: HttpRequest, incident_id: int) -> HttpResponseRedirect:
    """Close an incident."""
    act = _act(request)
    said = request.POST.get("resolution", "")
    if said not in set(Resolution):
        raise RuleViolation(
            "incident.resolution",
            f"Say what it came to: {', '.join(Resolution)}.",
            field="resolution",
        )
    found = incident_resolve(
        get_incident_for_user(incident_id, act.user),
        act,
        resolution=Resolution(said),
        reason=request.POST.get("reason", ""),
    )
    messages.success(request, "It is resolved.")
    return HttpResponseRedirect(incident_url(found))


@require_POST
def incident_reopen_view(request: HttpRequest, incident_id: int) -> HttpResponseRedirect:
    """Open a closed incident again."""
    act = _act(request)
    reason = request.POST.get("reason", "")
    found = incident_reopen(get_incident_for_user(incident_id, act.user), act, reason=reason)
    messages.success(request, "It is open again.")
    return HttpResponseRedirect(incident_url(found))


def _act(request: HttpRequest) -> Act:
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise RuleViolation("incident.version", "Give the version that you read.", field="version")
    return Act(person(request), version, timezone.now())
