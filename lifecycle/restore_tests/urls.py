"""Addresses of `lifecycle.restore_tests`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.restore_tests.api import drills as api_drills
from lifecycle.restore_tests.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("drills/", pages.drills, name="drills"),
    path("drills/start/", pages.drill_start, name="drill-start"),
    path("drills/<uuid:drill_id>/", pages.drill, name="drill"),
]

api_urlpatterns: list[URLPattern] = [
    path("drills/", api_drills.DrillList.as_view(), name="drills"),
    path("drills/databases/", api_drills.DrillDatabases.as_view(), name="drill-databases"),
    path("drills/<uuid:drill_id>/", api_drills.DrillDetail.as_view(), name="drill"),
    path("drills/<uuid:drill_id>/items/", api_drills.DrillItems.as_view(), name="drill-items"),
]
