"""Addresses of `pipelines.materialized`: pages and API."""

from django.urls import URLPattern, path

from pipelines.materialized.api import materializations as api
from pipelines.materialized.ui import actions, pages

_ALL, _ONE = "materializations/", "materializations/<int:number>/"

ui_urlpatterns: list[URLPattern] = [
    path(_ALL, pages.materializations, name="materializations"),
    path(f"{_ALL}new/", pages.materialization_new, name="materialization-new"),
    path(_ONE, pages.materialization, name="materialization"),
    path(f"{_ONE}edit/", pages.materialization_change, name="materialization-edit"),
    path(f"{_ONE}refresh/", actions.materialization_refresh_view, name="materialization-refresh"),
    path(f"{_ONE}pause/", actions.materialization_pause_view, name="materialization-pause"),
    path(f"{_ONE}delete/", actions.materialization_delete_view, name="materialization-delete"),
]

api_urlpatterns: list[URLPattern] = [
    path(_ALL, api.MaterializationList.as_view(), name="materializations"),
    path(f"{_ALL}check/", api.MaterializationCheck.as_view(), name="materialization-check"),
    path(_ONE, api.MaterializationDetail.as_view(), name="materialization"),
    path(
        f"{_ONE}refreshes/",
        api.MaterializationRefreshes.as_view(),
        name="materialization-refreshes",
    ),
    path(
        f"{_ONE}refresh/", api.MaterializationRefreshNow.as_view(), name="materialization-refresh"
    ),
    path(f"{_ONE}pause/", api.MaterializationPause.as_view(), name="materialization-pause"),
    path(f"{_ONE}delete/", api.MaterializationDelete.as_view(), name="materialization-delete"),
]
