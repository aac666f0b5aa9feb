"""Addresses of `optimizer.fleet`: the page, which belongs to Advice, and the API."""

from django.urls import URLPattern, path

from optimizer.fleet import api
from optimizer.fleet.ui import pages

ui_urlpatterns: list[URLPattern] = [path("advice/scans/", pages.scans, name="scans")]

api_urlpatterns: list[URLPattern] = [path("scans/", api.FleetScansView.as_view(), name="scans")]
