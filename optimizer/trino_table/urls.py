"""Addresses of `optimizer.trino_table`: the API."""

from django.urls import URLPattern, path

from optimizer.trino_table import api

api_urlpatterns: list[URLPattern] = [
    path("queries/trino-table/", api.TrinoTableView.as_view(), name="trino-table"),
]
