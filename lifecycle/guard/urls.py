"""Addresses of `lifecycle.guard`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.guard import api
from lifecycle.guard.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("dropped/", pages.dropped, name="dropped"),
    path("dropped/<uuid:dropped_id>/", pages.dropped_object, name="dropped-object"),
    path("policy-alarms/", pages.policy_alarms, name="policy-alarms"),
    path("policy-alarms/close/", pages.policy_alarms_close_view, name="policy-alarms-close"),
]

api_urlpatterns: list[URLPattern] = [
    path("dropped/", api.DroppedList.as_view(), name="dropped"),
    path("dropped/<uuid:dropped_id>/", api.DroppedDetail.as_view(), name="dropped-object"),
    path("policy-events/", api.PolicyEventList.as_view(), name="policy-events"),
    path("policy-events/close/", api.PolicyAlarmsClose.as_view(), name="policy-events-close"),
]
