"""Addresses of the API, from each capability."""

from django.urls import URLPattern

from optimizer.advice import urls as advice
from optimizer.console import urls as console
from optimizer.cubes import urls as cubes
from optimizer.fleet import urls as fleet
from optimizer.hudi.pages import urls as hudi
from optimizer.iceberg.indexing import urls as iceberg_indexing
from optimizer.iceberg.maintenance import urls as iceberg_maintenance
from optimizer.iceberg.planner import urls as iceberg_planner
from optimizer.iceberg.tables import urls as iceberg_tables
from optimizer.policies import urls as policies
from optimizer.pruning import urls as pruning
from optimizer.queries import urls as queries
from optimizer.removals import urls as removals
from optimizer.rewriting import urls as rewriting
from optimizer.trino_table import urls as trino_table

app_name = "optimizer-api"

urlpatterns: list[URLPattern] = [
    *advice.api_urlpatterns,
    *console.api_urlpatterns,
    *cubes.api_urlpatterns,
    *fleet.api_urlpatterns,
    *hudi.api_urlpatterns,
    *iceberg_indexing.api_urlpatterns,
    *iceberg_maintenance.api_urlpatterns,
    *iceberg_planner.api_urlpatterns,
    *iceberg_tables.api_urlpatterns,
    *policies.api_urlpatterns,
    *pruning.api_urlpatterns,
    *queries.api_urlpatterns,
    *removals.api_urlpatterns,
    *rewriting.api_urlpatterns,
    *trino_table.api_urlpatterns,
]
