"""Addresses of `lifecycle.restore_tests`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.restore_tests.api import restore_tests as api_restore_tests
from lifecycle.restore_tests.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("drills/", pages.restore_tests, name="drills"),
    path("drills/start/", pages.restore_test_start, name="drill-start"),
    path("drills/<uuid:drill_id>/", pages.restore_test, name="drill"),
]

api_urlpatterns: list[URLPattern] = [
    path("drills/", api_restore_tests.RestoreTestList.as_view(), name="drills"),
    path(
        "drills/databases/",
        api_restore_tests.RestoreTestDatabases.as_view(),
        name="drill-databases",
    ),
    path("drills/<uuid:drill_id>/", api_restore_tests.RestoreTestDetail.as_view(), name="drill"),
    path(
        "drills/<uuid:drill_id>/items/",
        api_restore_tests.RestoreTestItems.as_view(),
        name="drill-items",
    ),
]
