"""Addresses of `optimizer.rewriting`: page and API."""

from django.urls import URLPattern, path

from optimizer.rewriting import api, ui

ui_urlpatterns: list[URLPattern] = [path("rewrite/", ui.query, name="rewrite")]

api_urlpatterns: list[URLPattern] = [
    path("rewrite/", api.RewriteQuery.as_view(), name="rewrite"),
]
