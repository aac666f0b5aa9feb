"""Which address do schedulers speak to? Short and fixed, because it stands in many jobs."""

from django.urls import URLPattern, URLResolver, path

from refresh.api import hook, wait

app_name = "refresh-hook"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", hook.Tell.as_view(), name="tell"),
    path("wait", wait.Wait.as_view(), name="wait"),
]
