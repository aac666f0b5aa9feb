"""Addresses of `optimizer.iceberg.indexing`: API, and estimates; the rest is a tab of the table."""

from django.urls import URLPattern, path

from optimizer.iceberg.indexing.api import indexes as api
from optimizer.iceberg.indexing.ui import estimates

ui_urlpatterns: list[URLPattern] = [
    path("tables/<int:table_id>/indexes/estimate/", estimates.ask, name="index-estimate"),
    path(
        "tables/<int:table_id>/indexes/estimate/<uuid:run_id>/",
        estimates.show,
        name="index-estimate-shown",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("tables/<int:table_id>/indexes/", api.TableIndexes.as_view(), name="table-indexes"),
    path(
        "tables/<int:table_id>/indexes/partitions/",
        api.IndexCoverageList.as_view(),
        name="table-index-coverage",
    ),
    path(
        "tables/<int:table_id>/indexes/estimate/",
        api.EstimateList.as_view(),
        name="index-estimate",
    ),
    path(
        "tables/<int:table_id>/indexes/estimate/<uuid:run_id>/",
        api.EstimateDetail.as_view(),
        name="index-estimate-shown",
    ),
]
