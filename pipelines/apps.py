"""Registers the capabilities of the pipelines with the platform."""

from importlib import import_module

from django.apps import AppConfig

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

CAPABILITIES = (
    "cdc.control",
    "cdc.schema_requests",
    "cdc.reconciling",
    "cdc.tickets",
    "materialized",
    "incremental",
)
# What addresses name, and where the lake of each is found.
OBJECT_LAKES = (
    ObjectLake("name", "pipelines.Pipeline", "name"),
    ObjectLake("request_id", "pipelines.LayerSchemaRequest", views=("layer-schema-request",)),
    ObjectLake("request_id", "pipelines.SchemaRequest"),
    ObjectLake("ticket_id", "pipelines.SchemaTicket"),
    ObjectLake("layer_id", "pipelines.Layer"),
    ObjectLake("number", "pipelines.MaterializationAdvice", views=("materialization-advice",)),
    ObjectLake("number", "pipelines.Materialization"),
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
        register_object_lakes("pipelines", *OBJECT_LAKES)
