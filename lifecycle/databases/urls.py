"""Addresses of `lifecycle.databases`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.databases.api import databases as api_databases
from lifecycle.databases.api import days as api_days
from lifecycle.databases.api import dry_run as api_dry_run
from lifecycle.databases.ui import days, dry_run, pages

ui_urlpatterns: list[URLPattern] = [
    path("databases/", pages.databases, name="databases"),
    path("databases/<name:db>/", pages.database, name="database"),
    path("databases/<name:db>/mode/", pages.database_mode, name="database-mode"),
    path("databases/<name:db>/days/", days.database_days, name="database-days"),
    path("databases/<name:db>/shadow/", dry_run.shadow, name="shadow"),
]

api_urlpatterns: list[URLPattern] = [
    path("databases/<name:db>/days/", api_days.DatabaseDays.as_view(), name="database-days"),
    path(
        "databases/<name:db>/mode/", api_databases.DatabaseModeView.as_view(), name="database-mode"
    ),
    path("databases/<name:db>/shadow/", api_databases.DryRunList.as_view(), name="shadow"),
    path(
        "databases/<name:db>/shadow/summary/",
        api_dry_run.DryRunSummary.as_view(),
        name="shadow-summary",
    ),
]
