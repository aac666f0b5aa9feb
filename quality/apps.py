"""Registers the capabilities of quality with the platform."""

from importlib import import_module

from django.apps import AppConfig

CAPABILITIES = ("ready_flag", "freshness", "checks", "incidents")


class QualityConfig(AppConfig):
    """Whether data is complete and in time; its tables have the name of its first capability."""

    name = "quality"
    label = "readiness"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"quality.{capability}.registration").register()
        import_module("quality.object_lakes").register()
