"""Addresses of `optimizer.pruning`: pages and API."""

from django.urls import URLPattern, path

from optimizer.pruning import api, ui

ui_urlpatterns: list[URLPattern] = [
    path("prune/", ui.queries, name="prune"),
    path("prune/<uuid:run_id>/", ui.query, name="prune-query"),
]

api_urlpatterns: list[URLPattern] = [
    path("prune/", api.PruneList.as_view(), name="prune"),
    path("prune/<uuid:run_id>/", api.PruneDetail.as_view(), name="prune-query"),
]
