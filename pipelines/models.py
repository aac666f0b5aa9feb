"""Rows of the pipelines, from each capability; Django finds them here."""

from pipelines.cdc.control.models import (
    CapturedTable,
    Pipeline,
    PipelineMinute,
    SchemaChange,
)
from pipelines.cdc.reconciling.models import (
    ComparisonSchedule,
    DifferingKey,
    TableComparison,
    TableRepair,
)
from pipelines.cdc.schema_requests.models import SchemaRequest
from pipelines.cdc.tickets.models import SchemaTicket
from pipelines.incremental.models import Layer, LayerAdvance, LayerSchemaRequest, LayerSource
from pipelines.materialized.models import (
    Materialization,
    MaterializationAdvice,
    MaterializationDay,
    MaterializationRefresh,
)

__all__ = [
    "CapturedTable",
    "ComparisonSchedule",
    "DifferingKey",
    "Layer",
    "LayerAdvance",
    "LayerSchemaRequest",
    "LayerSource",
    "Materialization",
    "MaterializationAdvice",
    "MaterializationDay",
    "MaterializationRefresh",
    "Pipeline",
    "PipelineMinute",
    "SchemaChange",
    "SchemaRequest",
    "SchemaTicket",
    "TableComparison",
    "TableRepair",
]
