"""URLs at which writers report. Addresses have the form of Iceberg's REST catalog."""

from django.urls import URLPattern, URLResolver, path

from optimizer.iceberg.indexing.api import use_reports
from optimizer.iceberg.tables.api import reports

app_name = "optimizer-hook"

urlpatterns: list[URLPattern | URLResolver] = [
    path(
        "v1/<str:lake>/namespaces/<str:db>/tables/<str:table>/metrics",
        reports.Metrics.as_view(),
        name="metrics",
    ),
    path("v1/<str:lake>/index-reports", use_reports.IndexReports.as_view(), name="index-reports"),
]
