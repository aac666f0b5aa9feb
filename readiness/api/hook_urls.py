"""Address of the webhook for schedulers. Short and fixed, because many jobs contain it."""

from django.urls import URLPattern, URLResolver, path

from readiness.api import hook

app_name = "readiness-hook"

urlpatterns: list[URLPattern | URLResolver] = [path("", hook.MarkHook.as_view(), name="mark")]
