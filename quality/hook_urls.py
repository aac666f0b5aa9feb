"""Addresses that schedulers call: short and fixed, because they stand in many jobs."""

from django.urls import URLPattern

from quality.ready_flag import urls as ready_flag

app_name = "readiness-hook"

urlpatterns: list[URLPattern] = [*ready_flag.hook_urlpatterns]
