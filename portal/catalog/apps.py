"""Registers the catalog app."""

from importlib import import_module

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """Registers the app under the label `catalog`, and its subscriber with the follower."""

    name = "portal.catalog"
    label = "catalog"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register; imported here, because models must be loaded first."""
        import_module("portal.catalog.registration").register()
