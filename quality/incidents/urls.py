"""Addresses of `quality.incidents`: pages and API."""

from django.urls import URLPattern, path

from quality.incidents.api import incidents as api
from quality.incidents.ui import actions, pages

_ONE = "incidents/<int:incident_id>/"

ui_urlpatterns: list[URLPattern] = [
    path("incidents/", pages.incidents, name="incidents"),
    path(_ONE, pages.incident, name="incident"),
    path(f"{_ONE}acknowledge/", actions.incident_acknowledge_view, name="incident-acknowledge"),
    path(f"{_ONE}assign/", actions.incident_assign_view, name="incident-assign"),
    path(f"{_ONE}resolve/", actions.incident_resolve_view, name="incident-resolve"),
    path(f"{_ONE}reopen/", actions.incident_reopen_view, name="incident-reopen"),
]

api_urlpatterns: list[URLPattern] = [
    path("incidents/", api.IncidentList.as_view(), name="incidents"),
    path(_ONE, api.IncidentDetail.as_view(), name="incident"),
    path(f"{_ONE}acknowledge/", api.IncidentAcknowledge.as_view(), name="incident-acknowledge"),
    path(f"{_ONE}assign/", api.IncidentAssign.as_view(), name="incident-assign"),
    path(f"{_ONE}resolve/", api.IncidentResolve.as_view(), name="incident-resolve"),
    path(f"{_ONE}reopen/", api.IncidentReopen.as_view(), name="incident-reopen"),
]
