"""Addresses of `pipelines.cdc.schema_requests`."""

from django.urls import URLPattern, path

from pipelines.cdc.schema_requests import ui

ui_urlpatterns: list[URLPattern] = [
    path("schema-requests/<uuid:request_id>/", ui.schema_request, name="schema-request"),
    path(
        "schema-requests/<uuid:request_id>/decide/",
        ui.schema_request_decide_view,
        name="schema-request-decide",
    ),
]
