"""Registers the capabilities of lifecycle with the platform."""

from importlib import import_module

from django.apps import AppConfig

CAPABILITIES = (
    "backup",
    "core",
    "inventory",
    "policies",
    "guard",
    "enrollment",
    "relocation",
    "drop",
    "restore",
    "answers",
    "notices",
    "restore_tests",
    "schedule",
)


class LifecycleConfig(AppConfig):
    """Lifecycle of Hive data."""

    name = "lifecycle"
    label = "lifecycle"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"lifecycle.{capability}.registration").register()
        import_module("lifecycle.object_lakes").register()
