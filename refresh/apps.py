"""Registers the capabilities of refresh with the platform."""

from importlib import import_module

from django.apps import AppConfig

CAPABILITIES = ("core", "clusters", "history", "changes", "freshness", "worker")


class RefreshConfig(AppConfig):
    """Refresh of what StarRocks caches."""

    name = "refresh"
    label = "refresh"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"refresh.{capability}.registration").register()
        import_module("refresh.object_lakes").register()
