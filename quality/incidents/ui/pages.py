"""Pages of incidents: the list, and one with its windows, its history and what may be done."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import list_response
from quality.incidents.domain.states import State
from quality.incidents.selectors.incidents import (
    IncidentFilter,
    events_of,
    get_incident_for_user,
    incidents_visible,
    windows_of,
)
from quality.incidents.ui.tables import INCIDENTS
from quality.models import Incident

RESOLUTIONS = {
    "fixed": "Fixed: the data is right now",
    "expected": "Expected: the data is right as it is",
    "rule": "The rule is wrong",
}


@require_GET
def incidents(request: HttpRequest) -> HttpResponseBase:
    """List the incidents of tables that the person may see."""
    lake, user = current_lake(request), person(request)
    chosen = IncidentFilter(request.GET, queryset=incidents_visible(lake, user), user=user)
    return list_response(request, INCIDENTS, filterset=chosen, context={})


@require_GET
def incident(request: HttpRequest, incident_id: int) -> HttpResponse:
    """Show one incident."""
    user = person(request)
    found = get_incident_for_user(incident_id, user)
    windows = windows_of(found)
    context = {
        "found": found,
        "windows": windows,
        "n_left_out": max(0, found.n_windows - len(windows)),
        "events": events_of(found),
        "resolutions": RESOLUTIONS,
        "versioned": {"version": found.version},
        "checks_url": _checks_url(found),
        "others_url": _others_url(found),
        "may_acknowledge": found.is_unclosed
        and (found.state == State.OPEN or found.assignee != user.username),
        "may_reopen": not found.is_unclosed and found.check_set_id is not None,
    }
    return render(request, "readiness/incident.html", context)


def _checks_url(row: Incident) -> str:
    if row.check_set_id is None:
        return ""
    url = reverse("readiness:check-set", args=[row.check_set_id])
    return f"{url}?{urlencode({'rule': row.rule})}" if row.rule else url


def _others_url(row: Incident) -> str:
    asked = {"lake": row.lake, "db": row.db, "table": row.table, "rule": row.rule}
    return f"{reverse('readiness:incidents')}?{urlencode(asked)}"
