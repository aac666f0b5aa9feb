"""Says what the program that compares tables has to do."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pipelines.cdc.applying.domain.messages import PipelineOrder, TableOrder
from pipelines.cdc.changes.services.passwords import kafka_password
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.orders import orders_of
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.control.services.sources import source_config
from pipelines.cdc.reconciling.domain.messages import PASSWORD, Request, Server, Task
from pipelines.cdc.reconciling.services.schedules import check_has_source, schedule_of
from pipelines.models import CapturedTable, Pipeline
from portal.lake.errors import RuleViolation
from portal.runs.models import Run

WAIT_SECONDS = 900.0
MOST_ROUNDS = 5


def pipeline_of(run: Run) -> Pipeline | None:
    """Return the pipeline that a run compares; None once it was deleted."""
    return Pipeline.objects.filter(pk=run.params.get("pipeline"), lake=run.lake).first()


def passwords_of(run: Run) -> dict[str, str]:
    """Return the environment variables with the passwords of the source and of Kafka."""
    row = pipeline_of(run)
    if row is None or row.is_of_topics:
        return {}
    place = row.spec.kafka
    log_in = {place.password_variable: kafka_password(place)} if place and place.user else {}
    return {PASSWORD: source_config(row.spec).password, **log_in}


def request_of(run: Run) -> dict[str, Any]:
    """Return the request of a run as plain values.

    Raises:
        RuleViolation: `comparison.pipeline`, its pipeline was deleted or has nothing to compare;
            `comparison.topics`.
    """
    row = pipeline_of(run)
    order = None if row is None else _order(row)
    if row is None or order is None:
        raise RuleViolation("comparison.pipeline", "The pipeline has nothing to compare any more.")
    check_has_source(row)
    config = source_config(row.spec, epoch=row.epoch)
    asked = run.params.get("tables") or [one.id for one in order.tables]
    request = Request(
        server=Server(
            *(config.name, config.host, config.port, config.user, config.server_id),
            *(config.tables, config.ssl_ca, config.epoch),
        ),
        changelog=order.changelog,
        folder=order.folder,
        first_batch=order.first_batch,
        tasks=_tasks(row, [one for one in order.tables if one.id in asked]),
        rows_per_second=schedule_of(row).rows_per_second,
        wait_seconds=WAIT_SECONDS,
        most_rounds=MOST_ROUNDS,
        kafka=order.kafka,
    )
    plain: dict[str, Any] = msgspec.to_builtins(request)
    return plain


def _order(row: Pipeline) -> PipelineOrder | None:
    return next((one for one in orders_of(row.lake).pipelines if one.id == row.pk), None)


def _tasks(pipeline: Pipeline, orders: Sequence[TableOrder]) -> tuple[Task, ...]:
    rows = CapturedTable.objects.in_bulk([one.id for one in orders])
    tasks = []
    for order in orders:
        row = rows[order.id]
        newest = row.schemas.order_by("-number").first()
        if newest is None:
            continue
        tasks.append(Task(order, schema_of(row, newest), _reason(pipeline, row, order)))
    return tuple(tasks)


def _reason(pipeline: Pipeline, row: CapturedTable, order: TableOrder) -> str:
    """Say why a table cannot be compared now; empty where it can."""
    if Desired.PAUSED.value in (pipeline.desired, row.desired):
        return "It is paused."
    if row.loaded_at is None:
        return "Its full load is under way."
    if order.plan(row.schema_number) is None:
        return "A change of its schema waits for a decision."
    return ""
