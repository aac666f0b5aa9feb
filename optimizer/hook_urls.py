"""URLs at which writers report. Addresses have the form of Iceberg's REST catalog."""

from django.urls import URLPattern, URLResolver, path

from optimizer.iceberg.tables.api import reports
from optimizer.usage.api import UseReports

app_name = "optimizer-hook"

urlpatterns: list[URLPattern | URLResolver] = [
    path(
        "v1/<str:lake>/namespaces/<str:db>/tables/<str:table>/metrics",
        reports.Metrics.as_view(),
        name="metrics",
    ),
    path("v1/<str:lake>/index-reports", UseReports.as_view(), name="index-reports"),
]
