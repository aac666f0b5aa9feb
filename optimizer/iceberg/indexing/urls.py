"""Addresses of `optimizer.iceberg.indexing`: the API; its page is a tab of the table."""

from django.urls import URLPattern, path

from optimizer.iceberg.indexing import api

api_urlpatterns: list[URLPattern] = [
    path("tables/<int:table_id>/indexes/", api.TableIndexes.as_view(), name="table-indexes"),
    path(
        "tables/<int:table_id>/indexes/partitions/",
        api.IndexCoverageList.as_view(),
        name="table-index-coverage",
    ),
]
