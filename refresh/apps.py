"""Registers the capabilities of refresh with the platform."""

from importlib import import_module

from django.apps import AppConfig

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

CAPABILITIES = ("core", "clusters", "history", "changes", "freshness", "worker")
# What addresses name, and where the lake of each is found.
# A cluster may serve several lakes.
OBJECT_LAKES = (
    ObjectLake("target_id", "refresh.RefreshTarget", lake="watched__lake"),
    ObjectLake("public_id", "refresh.Refresh", "public_id", lake="target__watched__lake"),
)


class RefreshConfig(AppConfig):
    """Refresh of what StarRocks caches."""

    name = "refresh"
    label = "refresh"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"refresh.{capability}.registration").register()
        register_object_lakes("refresh", *OBJECT_LAKES)
