"""Takes in what a capture tells of itself: how far it is, its tables, and their schemas.

Everything is said again with each report, so one that is lost or repeated changes nothing.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Coalesce, Greatest

from pipelines.cdc.capture.engine.progress import Progress
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.plans import Decision
from pipelines.cdc.control.domain.spec import target_name
from pipelines.cdc.control.services.announced import Announced, announced
from pipelines.cdc.control.services.pipelines import (
    load_again,
    locked,
    table_record,
)
from pipelines.cdc.protecting.domain.columns import check_table
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.cdc.schema.domain.classes import classify, worst
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.schema.domain.unlogged import has_values_before, leaves_rows_behind
from pipelines.models import (
    CapturedTable,
    Pipeline,
    PipelineMinute,
    SchemaChange,
    TableRepair,
)
from portal.lake.errors import PortalError, RuleViolation


def progress_take(pipeline: Pipeline, told: Progress, *, now: datetime) -> None:
    """Take in how far a capture is; a report that was lost is made up for by the next."""
    known = Pipeline.objects.filter(pk=pipeline.pk).values_list("n_rows", flat=True).first()
    if known is None:
        return  # it was deleted a moment ago
    n_new = max(0, told.total - known)
    Pipeline.objects.filter(pk=pipeline.pk).update(
        heard_at=now,
        position=told.position,
        position_at=now - timedelta(seconds=told.behind_seconds),
        seconds_behind=told.behind_seconds,
        rows_per_second=told.rows_per_second,
        n_rows=known + n_new,
        batch=told.number,
        problem="",
        problem_code="",
    )
    minute_add(pipeline, n_rows=n_new, capture_lag=told.behind_seconds, batch=told.number, now=now)
    _loads_take(pipeline, told, now=now)
    for one in told.repaired:
        # Told again and again; the first time counts.
        TableRepair.objects.filter(pk=one.id, done_at=None).update(
            done_at=now,
            batch=one.batch,
            n_rows=one.n_rows,
            n_deletes=one.n_deletes,
            note=one.note,
        )


def problem_take(pipeline: Pipeline, error: PortalError, *, now: datetime) -> None:
    """Keep why a capture stopped; it is tried again by itself."""
    Pipeline.objects.filter(pk=pipeline.pk).update(
        heard_at=now, problem=error.message, problem_code=error.code
    )


def schemas_take(pipeline: Pipeline, schemas: Sequence[TableSchema], *, now: datetime) -> None:
    """Take in schemas that are new, each table's in their order; what is known is left as it is."""
    known = dict(
        pipeline.tables.annotate(n=Max("schemas__number")).values_list("pk", "n", named=False)
    )
    rows = {(row.db, row.table): row for row in pipeline.tables.all()}
    for schema in sorted(schemas, key=lambda one: (one.db, one.table, one.number)):
        row = rows.get((schema.db, schema.table))
        if row is not None and schema.number <= (known.get(row.pk) or 0):
            continue
        with transaction.atomic():
            if row is None:
                row = rows[schema.db, schema.table] = _table_add(pipeline, schema)
            _schema_add(row, schema, now=now)
            known[row.pk] = schema.number


def minute_add(
    pipeline: Pipeline,
    *,
    n_rows: int = 0,
    capture_lag: float | None = None,
    apply_lag: float | None = None,
    batch: int = 0,
    now: datetime,
) -> None:
    """Add to a pipeline's minute; of lags the longest is kept, of batches the last.

    Minutes are kept a day longer than the batches of changelogs, whose age they tell.
    """
    minute = now.replace(second=0, microsecond=0)
    row, is_new = PipelineMinute.objects.get_or_create(pipeline=pipeline, minute=minute)
    changes: dict[str, Any] = {"n_rows": F("n_rows") + n_rows}
    if batch:
        changes["batch"] = batch
    for field, lag in (("capture_lag", capture_lag), ("apply_lag", apply_lag)):
        if lag is not None:
            changes[field] = Greatest(Coalesce(field, lag), lag)
    PipelineMinute.objects.filter(pk=row.pk).update(**changes)
    if is_new:
        oldest = now - timedelta(days=settings.LAKEWARDEN_CHANGELOG_DAYS + 1)
        pipeline.minutes.filter(minute__lt=oldest).delete()


def _loads_take(pipeline: Pipeline, told: Progress, *, now: datetime) -> None:
    """Keep how far full loads are; a table of which none is under way is loaded."""
    refused = dict(told.refused)
    loads = {f"{load.db}.{load.table}": load for load in told.loads}
    changed, rows = [], list(pipeline.tables.all())
    for row in rows:
        load, reason = loads.get(str(row)), refused.get(str(row), "")
        before = (row.refused, row.n_loaded, row.loaded_at)
        row.refused = reason
        if load is not None and not load.is_done:
            row.n_loaded, row.loaded_at = load.rows, None
        elif load is not None:
            row.n_loaded, row.loaded_at = load.rows, row.loaded_at or now
        elif not reason and row.schema_number:
            row.loaded_at = row.loaded_at or now
        if before != (row.refused, row.n_loaded, row.loaded_at):
            changed.append(row)
    CapturedTable.objects.bulk_update(changed, ["refused", "n_loaded", "loaded_at"], batch_size=200)
    known = set(map(str, rows))
    for name, reason in refused.items():
        if name not in known:
            db, _, table = name.partition(".")
            _table_add(pipeline, TableSchema(db, table, 0, 0, (), ()), refused=reason)


def _table_add(pipeline: Pipeline, schema: TableSchema, *, refused: str = "") -> CapturedTable:
    locked(pipeline)
    same_target = CapturedTable.objects.filter(lake=pipeline.lake, target_db=pipeline.target_db)
    taken = set(same_target.values_list("target_table", flat=True))
    name = f"{schema.db}.{schema.table}"
    return CapturedTable.objects.create(
        pipeline=pipeline,
        db=schema.db,
        table=schema.table,
        lake=pipeline.lake,
        target_db=pipeline.target_db,
        target_table=target_name(schema.db, schema.table, taken=taken),
        key=list(schema.key),
        refused=refused,
        protections=pipeline.protections.get(name, {}),
        partition_column=pipeline.partitions.get(name, ""),
    )


def _schema_add(row: CapturedTable, schema: TableSchema, *, now: datetime) -> None:
    before = row.schemas.order_by("-number").first()
    changes: tuple[Change, ...] = ()
    if before is not None:
        statement = read_statement(schema.ddl, schema.db) if schema.ddl else None
        old = schema_of(row, before)
        changes = classify(old, schema, statement, partitioning=row.partitioning)
    cls = worst(changes)
    decision = _decision(before, changes, cls)
    ahead = announced(row, schema, changes, now=now) if changes else None
    if ahead is not None:
        decision = Decision.APPROVED
    reason = "" if before is not None else _unprotectable(row, schema)
    decision = Decision.REFUSED if reason else decision
    SchemaChange.objects.create(
        captured=row,
        number=schema.number,
        first_version=schema.version,
        columns=msgspec.to_builtins(schema.columns),
        key=list(schema.key),
        ddl=schema.ddl,
        change_class=cls.value,
        changes=msgspec.to_builtins(changes),
        decision=decision.value,
        decided_by=_decider(decision, ahead, reason),
        decided_at=now if decision is Decision.APPROVED or reason else None,
        decided_reason=ahead.reason if ahead else reason,
        column_choices=dict(ahead.choices) if ahead else {},
        seen_at=now,
    )
    row.schema_number, row.key = schema.number, list(schema.key)
    row.save(update_fields=["schema_number", "key"])
    if ahead is not None and _leaves_rows_behind(schema, changes, ahead):
        load_again(row)
    if before is not None:
        table_record(
            "schema_seen",
            row,
            by="capture",
            data={"number": schema.number, "class": cls.value, "decision": decision.value},
            now=now,
        )


def _unprotectable(row: CapturedTable, schema: TableSchema) -> str:
    """Say why a table cannot be protected and partitioned as it was asked to; empty: it can."""
    try:
        said = {name: Protection.parse(text) for name, text in row.protections.items()}
        check_table(schema, said, row.partition_column)
    except RuleViolation as error:
        return error.message
    return ""


def _decision(before: SchemaChange | None, changes: Iterable[Change], cls: Class) -> Decision:
    if before is None or not tuple(changes):
        return Decision.NONE
    return Decision.APPROVED if cls is Class.AUTO else Decision.WAITING


def _leaves_rows_behind(schema: TableSchema, changes: Sequence[Change], ahead: Announced) -> bool:
    added = (schema.column(name) for name in ahead.choices)
    return leaves_rows_behind(changes) or any(one and has_values_before(one) for one in added)


def _decider(decision: Decision, ahead: Announced | None, reason: str) -> str:
    if ahead is not None:
        return ahead.by
    return "rules" if decision is Decision.APPROVED or reason else ""


def schema_of(row: CapturedTable, stored: SchemaChange) -> TableSchema:
    """Return a stored schema as the domain knows it."""
    return TableSchema(
        db=row.db,
        table=row.table,
        number=stored.number,
        version=stored.first_version,
        columns=msgspec.convert(stored.columns, tuple[Column, ...]),
        key=tuple(stored.key),
        ddl=stored.ddl,
    )
