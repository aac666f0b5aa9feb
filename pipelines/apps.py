"""Registers the capabilities of the pipelines with the platform."""

from importlib import import_module

from django.apps import AppConfig

CAPABILITIES = (
    "cdc.control",
    "cdc.schema_requests",
    "cdc.reconciling",
    "cdc.tickets",
    "materialized",
    "incremental",
)


class PipelinesConfig(AppConfig):
    """Data that flows into the lake and through it."""

    name = "pipelines"
    label = "pipelines"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"pipelines.{capability}.registration").register()
        import_module("pipelines.object_lakes").register()
