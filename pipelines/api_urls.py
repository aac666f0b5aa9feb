"""Addresses of the API, from each capability."""

from django.urls import URLPattern

from pipelines.cdc.control import urls as cdc
from pipelines.cdc.reconciling import urls as reconciling
from pipelines.cdc.tickets import urls as tickets
from pipelines.incremental import urls as incremental
from pipelines.materialized import urls as materialized

app_name = "pipelines-api"

urlpatterns: list[URLPattern] = [
    *cdc.api_urlpatterns,
    *reconciling.api_urlpatterns,
    *tickets.api_urlpatterns,
    *materialized.api_urlpatterns,
    *incremental.api_urlpatterns,
]
