"""Addresses of the pages, from each capability."""

from django.urls import URLPattern

from refresh.clusters import urls as clusters
from refresh.freshness import urls as freshness
from refresh.history import urls as history
from refresh.worker import urls as worker

app_name = "refresh"

urlpatterns: list[URLPattern] = [
    *clusters.ui_urlpatterns,
    *freshness.ui_urlpatterns,
    *history.ui_urlpatterns,
    *worker.ui_urlpatterns,
]
