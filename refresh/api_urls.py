"""Addresses of the API, from each capability."""

from django.urls import URLPattern

from refresh.clusters import urls as clusters
from refresh.freshness import urls as freshness
from refresh.history import urls as history
from refresh.worker import urls as worker

app_name = "refresh-api"

urlpatterns: list[URLPattern] = [
    *clusters.api_urlpatterns,
    *freshness.api_urlpatterns,
    *history.api_urlpatterns,
    *worker.api_urlpatterns,
]
