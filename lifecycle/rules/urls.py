"""Addresses of `lifecycle.rules`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.rules.ui import paths

ui_urlpatterns: list[URLPattern] = [
    path("paths/", paths.paths, name="paths"),
]

api_urlpatterns: list[URLPattern] = []
