"""Which address do schedulers speak to? Short and fixed, because it stands in many jobs."""

from django.urls import URLPattern, URLResolver, path

from readiness.api import hook

app_name = "readiness-hook"

urlpatterns: list[URLPattern | URLResolver] = [path("", hook.MarkHook.as_view(), name="mark")]
