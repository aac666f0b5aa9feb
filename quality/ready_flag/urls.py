"""Addresses of `quality.ready_flag`: its page, and what schedulers call."""

from django.urls import URLPattern, path

from quality.ready_flag import api, ui

ui_urlpatterns: list[URLPattern] = [path("readers/", ui.readers, name="readers")]

hook_urlpatterns: list[URLPattern] = [path("", api.MarkHook.as_view(), name="mark")]
