"""Addresses of the pages, from each capability."""

from django.urls import URLPattern

from pipelines.cdc.control import urls as cdc
from pipelines.cdc.reconciling import urls as reconciling
from pipelines.cdc.schema_requests import urls as schema_requests
from pipelines.cdc.tickets import urls as tickets
from pipelines.incremental import urls as incremental
from pipelines.materialized import urls as materialized

app_name = "pipelines"

urlpatterns: list[URLPattern] = [
    *cdc.ui_urlpatterns,
    *reconciling.ui_urlpatterns,
    *schema_requests.ui_urlpatterns,
    *tickets.ui_urlpatterns,
    *materialized.ui_urlpatterns,
    *incremental.ui_urlpatterns,
]
