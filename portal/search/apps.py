"""Registers the search app."""

from importlib import import_module

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """Registers the app under the label `search`, its tick and the platform's sources."""

    name = "portal.search"
    label = "search"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register; imported here, because models must be loaded first."""
        import_module("portal.search.registration").register()
