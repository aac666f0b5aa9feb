"""Addresses of `optimizer.queries`: the API."""

from django.urls import URLPattern, path

from optimizer.queries import api

api_urlpatterns: list[URLPattern] = [
    path("queries/", api.EngineQueries.as_view(), name="queries"),
]
