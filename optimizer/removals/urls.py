"""Addresses of `optimizer.removals`: pages and API."""

from django.urls import URLPattern, path

from optimizer.removals import api
from optimizer.removals.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("removals/", pages.removals, name="removals"),
    path("removals/<uuid:removal_id>/", pages.removal, name="removal"),
    path("removals/<uuid:removal_id>/decide/", pages.decide, name="removal-decide"),
    path("removals/<uuid:removal_id>/withdraw/", pages.withdraw, name="removal-withdraw"),
]

api_urlpatterns: list[URLPattern] = [
    path("removals/", api.RemovalList.as_view(), name="removals"),
    path("removals/<uuid:removal_id>/", api.RemovalDetail.as_view(), name="removal"),
    path("removals/<uuid:removal_id>/decide/", api.RemovalDecide.as_view(), name="removal-decide"),
    path(
        "removals/<uuid:removal_id>/withdraw/",
        api.RemovalWithdraw.as_view(),
        name="removal-withdraw",
    ),
]
