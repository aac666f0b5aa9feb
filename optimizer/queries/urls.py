"""Addresses of `optimizer.queries`: pages and API."""

from django.urls import URLPattern, path

from optimizer.queries import api
from optimizer.queries.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("queries/", pages.top_shapes, name="top-shapes"),
    path("queries/analyse/", pages.analyse, name="top-shapes-analyse"),
    path("queries/<slug:digest>/", pages.top_shape, name="top-shape"),
]

api_urlpatterns: list[URLPattern] = [
    path("queries/", api.EngineQueries.as_view(), name="queries"),
    path("queries/shapes/", api.TopShapes.as_view(), name="top-shapes"),
    path("queries/shapes/analyse/", api.Analysis.as_view(), name="top-shapes-analyse"),
    path("queries/shapes/<slug:digest>/", api.TopShapeDetail.as_view(), name="top-shape"),
]
