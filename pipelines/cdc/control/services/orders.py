"""Says what the program that applies changes has to do, from what people want and have decided."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from django.conf import settings

from pipelines.cdc.applying.domain.messages import (
    Orders,
    PipelineOrder,
    TableOrder,
    TopicsPlan,
)
from pipelines.cdc.changes.services.passwords import password_variables
from pipelines.cdc.control.domain.plans import (
    DecidedSchema,
    Decision,
    Prepared,
    TablePlan,
    choices_of,
    table_plan,
)
from pipelines.cdc.control.domain.spec import SourceKind, TableType
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.control.services.sources import changelog_root, folder_of
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.models import CapturedTable, Pipeline, SchemaChange
from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, PortalError
from portal.lake.names import TableName

_log = logging.getLogger(__name__)
_KINDS = {TableType.MERGE_ON_READ.value: "MOR", TableType.COPY_ON_WRITE.value: "COW"}


def has_orders(lake: str) -> bool:
    """Whether a lake has a table that changes may be applied to, or topics that may have some."""
    running = Pipeline.objects.filter(lake=lake, desired=Desired.RUNNING.value)
    if running.filter(kind=SourceKind.TOPICS.value).exists():
        return True
    return CapturedTable.objects.filter(pipeline__in=running, schema_number__gt=0).exists()


def orders_of(lake: str) -> Orders:
    """Return the orders of a lake: every pipeline with its tables, paused ones too."""
    pipelines = list(Pipeline.objects.filter(lake=lake).order_by("pk"))
    tables = CapturedTable.objects.filter(pipeline__in=pipelines, schema_number__gt=0, refused="")
    by_pipeline: dict[int, list[CapturedTable]] = defaultdict(list)
    for row in tables.order_by("pk"):
        by_pipeline[row.pipeline_id].append(row)
    schemas = _schemas_of(tables)
    orders = tuple(_pipeline(one, by_pipeline[one.pk], schemas) for one in pipelines)
    return Orders(pipelines=orders)


def orders_json(lake: str) -> dict[str, Any]:
    """Return the same as plain values, for a request or a control file."""
    plain: dict[str, Any] = msgspec.to_builtins(orders_of(lake))
    return plain


def passwords_of(lake: str) -> dict[str, str]:
    """Return the passwords that the program needs, by the variables in which it looks for them.

    One that cannot be read is missing for its own pipeline alone, which says so.
    """
    found: dict[str, str] = {}
    for row in Pipeline.objects.filter(lake=lake):
        try:
            found |= password_variables([row.spec.kafka])
        except ExternalFailure as error:
            _log.warning("pipeline %s: %s", row.name, error.message)
    return found


def plan_of(row: CapturedTable, stored: Iterable[SchemaChange], *ahead: DecidedSchema) -> TablePlan:
    """Return what happens to the records of each schema of a table; `ahead` are yet to come."""
    own = [one for one in stored if one.number >= row.first_schema]
    decided = [_decided(row, one) for one in sorted(own, key=lambda one: one.number)]
    return table_plan([*decided, *ahead], msgspec.convert(row.prepared, tuple[Prepared, ...]))


def locations_find(lake: str) -> None:
    """Find where tables that have no place yet are to lie: below their database.

    Why one has none stands as the problem of its pipeline.
    """
    rows = CapturedTable.objects.filter(lake=lake, location="", schema_number__gt=0)
    databases = set(rows.values_list("target_db", flat=True))
    if not databases:
        return
    places: dict[str, str] = {}
    problems: dict[str, str] = {}
    with Metastore.connect(get_lake(lake)) as metastore:
        for db in databases:
            try:
                places[db] = str(metastore.database(db).locationUri)
            except NotVisible:
                problems[db] = f"The lake has no database {db}. Create it; it is looked for again."
            except PortalError as error:
                problems[db] = error.message
    for row in rows:
        if place := places.get(row.target_db):
            row.location = f"{place.rstrip('/')}/{row.target_table}"
            row.save(update_fields=["location"])
    for db, problem in problems.items():
        Pipeline.objects.filter(lake=lake, target_db=db).update(apply_problem=problem)
    fine = Pipeline.objects.filter(lake=lake, target_db__in=places)
    fine.filter(apply_problem__startswith="The lake has no database").update(apply_problem="")


def _schemas_of(tables: Any) -> Mapping[int, list[SchemaChange]]:
    found: dict[int, list[SchemaChange]] = defaultdict(list)
    for one in SchemaChange.objects.filter(captured__in=tables).order_by("captured", "number"):
        found[one.captured_id].append(one)
    return found


def _pipeline(
    row: Pipeline, tables: Sequence[CapturedTable], schemas: Mapping[int, list[SchemaChange]]
) -> PipelineOrder:
    known = [table for table in tables if table.location]
    return PipelineOrder(
        id=row.pk,
        changelog=str(changelog_root(row)),
        folder=str(folder_of(row).child("apply")),
        kafka=row.spec.kafka,
        topics=TopicsPlan(row.spec.patterns, row.spec.columns) if row.is_of_topics else None,
        tables=tuple(_table(row, table, schemas[table.pk]) for table in known),
        first_batch=row.first_batch,
        is_paused=row.desired == Desired.PAUSED.value,
        retry=str(row.version),
    )


def _table(pipeline: Pipeline, row: CapturedTable, stored: Sequence[SchemaChange]) -> TableOrder:
    plan = plan_of(row, stored)
    name = TableName(get_lake(row.lake).lake, row.target_db, row.target_table)
    partition = ""
    if row.partition_column and plan.schemas:
        partition = plan.schemas[0].live.get(row.partition_column, "")
    return TableOrder(
        id=row.pk,
        db=row.db,
        table=row.table,
        target_db=name.db,
        target_table=name.table,
        location=row.location,
        columns=plan.columns,
        key=tuple(row.key),
        schemas=plan.schemas,
        kind="MOR" if _KINDS[pipeline.table_type] == "MOR" else "COW",
        partition=partition,
        owner=str(folder_of(pipeline)),
        state="paused" if row.desired == Desired.PAUSED.value else "live",
        replays=plan.replays,
        refused=plan.refused,
        protections={name: str(one) for name, one in plan.protections.items()},
        retry=row.retry,
        aside_days=settings.LAKEWARDEN_CDC_ASIDE_DAYS,
        first_batch=row.first_batch,
        first_schema=row.first_schema,
    )


def _decided(row: CapturedTable, stored: SchemaChange) -> DecidedSchema:
    choices, protections = choices_of(stored.column_choices)
    first = {name: Protection.parse(text) for name, text in row.protections.items()}
    return DecidedSchema(
        schema=schema_of(row, stored),
        decision=Decision(stored.decision),
        changes=msgspec.convert(stored.changes, tuple[Change, ...]),
        choices=choices,
        protections=first | protections,
    )
