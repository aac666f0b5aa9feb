"""Addresses of `lifecycle.inventory`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.inventory.api import findings as api_findings
from lifecycle.inventory.api import scans as api_scans
from lifecycle.inventory.ui import expiring, item_details, scan

ui_urlpatterns: list[URLPattern] = [
    path("expiring/", expiring.expiring, name="expiring"),
    path("tables/<name:db>/<name:table>/", expiring.table, name="table"),
    path("scan/", scan.scan_now, name="scan"),
    path("scans/<uuid:run_id>/smaller/", scan.scan_smaller, name="scan-smaller"),
    path("tables/<name:db>/<name:table>/why/", item_details.why, name="why"),
    path("tables/<name:db>/<name:table>/why/look/", item_details.why_look, name="why-look"),
]

api_urlpatterns: list[URLPattern] = [
    path("picture/", api_findings.Picture.as_view(), name="picture"),
    path("needs-answer/", api_findings.NeedsAnswer.as_view(), name="needs-answer"),
    path("paths/", api_findings.PathList.as_view(), name="paths"),
    path("tables/", api_findings.TableList.as_view(), name="tables"),
    path("tables/<name:db>/<name:table>/", api_findings.TableDetail.as_view(), name="table"),
    path("tables/<name:db>/<name:table>/items/", api_findings.ItemList.as_view(), name="items"),
    path("tables/<name:db>/<name:table>/why/", api_findings.Why.as_view(), name="why"),
    path("databases/", api_findings.DatabaseList.as_view(), name="databases"),
    path("scans/", api_findings.Scan.as_view(), name="scans"),
    path(
        "scans/<uuid:run_id>/accept-smaller/",
        api_scans.ScanAcceptSmaller.as_view(),
        name="scan-accept-smaller",
    ),
]
