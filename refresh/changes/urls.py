"""Addresses of `refresh.changes` that schedulers call."""

from django.urls import URLPattern, path

from refresh.changes.api import webhooks

hook_urlpatterns: list[URLPattern] = [path("", webhooks.Tell.as_view(), name="tell")]
