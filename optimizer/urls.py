"""Addresses of the pages, from each capability."""

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

app_name = "optimizer"

urlpatterns: list[URLPattern] = [
    *advice.ui_urlpatterns,
    *console.ui_urlpatterns,
    *cubes.ui_urlpatterns,
    *fleet.ui_urlpatterns,
    *hudi.ui_urlpatterns,
    *iceberg_indexing.ui_urlpatterns,
    *iceberg_maintenance.ui_urlpatterns,
    *iceberg_planner.ui_urlpatterns,
    *iceberg_tables.ui_urlpatterns,
    *policies.ui_urlpatterns,
    *pruning.ui_urlpatterns,
    *queries.ui_urlpatterns,
    *removals.ui_urlpatterns,
    *rewriting.ui_urlpatterns,
]
