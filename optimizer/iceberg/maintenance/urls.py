"""Addresses of `optimizer.iceberg.maintenance`: pages and API."""

from django.urls import URLPattern, path

from optimizer.iceberg.maintenance import api
from optimizer.iceberg.maintenance.ui.bring_back import bring_back

ui_urlpatterns: list[URLPattern] = [
    path("removals/<uuid:removal_id>/bring-back/", bring_back, name="removal-bring-back"),
]

api_urlpatterns: list[URLPattern] = [
    path(
        "removals/<uuid:removal_id>/bring-back/",
        api.RemovalBringBack.as_view(),
        name="removal-bring-back",
    ),
]
