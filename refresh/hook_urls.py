"""Addresses that schedulers call: short and fixed, because they stand in many jobs."""

from django.urls import URLPattern

from refresh.changes import urls as changes
from refresh.freshness import urls as freshness

app_name = "refresh-hook"

urlpatterns: list[URLPattern] = [*changes.hook_urlpatterns, *freshness.hook_urlpatterns]
