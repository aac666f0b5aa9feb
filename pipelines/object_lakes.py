"""The lakes of the objects that addresses of the pipelines name."""

from pipelines.models import (
    Layer,
    LayerSchemaRequest,
    Materialization,
    MaterializationAdvice,
    Pipeline,
    SchemaRequest,
    SchemaTicket,
)
from portal.ui.frame.lakes import ObjectLake, register_object_lakes


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "pipelines",
        ObjectLake("name", Pipeline, "name"),
        ObjectLake("request_id", LayerSchemaRequest, views=("layer-schema-request",)),
        ObjectLake("request_id", SchemaRequest),
        ObjectLake("ticket_id", SchemaTicket),
        ObjectLake("layer_id", Layer),
        ObjectLake("number", MaterializationAdvice, views=("materialization-advice",)),
        ObjectLake("number", Materialization),
    )
