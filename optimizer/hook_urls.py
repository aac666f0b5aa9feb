"""URLs at which writers and engines report; those of tables as in Iceberg's REST catalog."""

from django.urls import URLPattern, URLResolver, path

from optimizer.iceberg.tables.api import reports
from optimizer.queries.api import SparkQueries, TrinoQueries
from optimizer.usage.api import UseReports

app_name = "optimizer-hook"

urlpatterns: list[URLPattern | URLResolver] = [
    path(
        "v1/<str:lake>/namespaces/<str:db>/tables/<str:table>/metrics",
        reports.Metrics.as_view(),
        name="metrics",
    ),
    path("v1/<str:lake>/index-reports", UseReports.as_view(), name="index-reports"),
    path("v1/<str:lake>/trino/<str:catalog>/queries", TrinoQueries.as_view(), name="trino-queries"),
    path("v1/<str:lake>/spark/<str:catalog>/queries", SparkQueries.as_view(), name="spark-queries"),
]
