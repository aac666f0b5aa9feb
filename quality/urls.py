"""Addresses of the pages, from each capability."""

from django.urls import URLPattern

from quality.checks import urls as checks
from quality.freshness import urls as freshness
from quality.incidents import urls as incidents
from quality.ready_flag import urls as ready_flag

app_name = "readiness"

urlpatterns: list[URLPattern] = [
    *freshness.ui_urlpatterns,
    *ready_flag.ui_urlpatterns,
    *checks.ui_urlpatterns,
    *incidents.ui_urlpatterns,
]
