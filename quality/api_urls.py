"""Addresses of the API, from each capability."""

from django.urls import URLPattern

from quality.checks import urls as checks
from quality.freshness import urls as freshness
from quality.incidents import urls as incidents

app_name = "readiness-api"

urlpatterns: list[URLPattern] = [
    *freshness.api_urlpatterns,
    *checks.api_urlpatterns,
    *incidents.api_urlpatterns,
]
