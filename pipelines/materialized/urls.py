"""Addresses of `pipelines.materialized`: pages and API."""

from django.urls import URLPattern, path

from pipelines.materialized.api import advice as advice_api
from pipelines.materialized.api import materializations as api
from pipelines.materialized.ui import actions, advice, pages

_ALL, _ONE = "materializations/", "materializations/<int:number>/"
_ADVICE = "materializations/advice/"

ui_urlpatterns: list[URLPattern] = [
    path(_ALL, pages.materializations, name="materializations"),
    path(f"{_ALL}new/", pages.materialization_new, name="materialization-new"),
    path(_ADVICE, advice.advice, name="materialization-advice"),
    path(f"{_ADVICE}<int:number>/", advice.shown, name="materialization-advice-one"),
    path(f"{_ADVICE}<int:number>/pause/", advice.pause, name="materialization-advice-pause"),
    path(f"{_ADVICE}<int:number>/dismiss/", advice.dismiss, name="materialization-advice-dismiss"),
    path(_ONE, pages.materialization, name="materialization"),
    path(f"{_ONE}edit/", pages.materialization_change, name="materialization-edit"),
    path(f"{_ONE}refresh/", actions.materialization_refresh_view, name="materialization-refresh"),
    path(f"{_ONE}pause/", actions.materialization_pause_view, name="materialization-pause"),
    path(f"{_ONE}delete/", actions.materialization_delete_view, name="materialization-delete"),
]

api_urlpatterns: list[URLPattern] = [
    path(_ALL, api.MaterializationList.as_view(), name="materializations"),
    path(f"{_ALL}check/", api.MaterializationCheck.as_view(), name="materialization-check"),
    path(_ADVICE, advice_api.AdviceList.as_view(), name="materialization-advice"),
    path(
        f"{_ADVICE}<int:number>/",
        advice_api.AdviceDetail.as_view(),
        name="materialization-advice-one",
    ),
    path(
        f"{_ADVICE}<int:number>/define/",
        advice_api.AdviceDefine.as_view(),
        name="materialization-advice-define",
    ),
    path(
        f"{_ADVICE}<int:number>/pause/",
        advice_api.AdvicePause.as_view(),
        name="materialization-advice-pause",
    ),
    path(
        f"{_ADVICE}<int:number>/dismiss/",
        advice_api.AdviceDismiss.as_view(),
        name="materialization-advice-dismiss",
    ),
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
