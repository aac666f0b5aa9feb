"""Takes in what the program that applies changes tells: how far each table is, and what is wrong.

The program writes a file a pipeline and a file a table; those that are new since the last beat are
read. Its counts begin at its start, so what they grew by is added to the sums here.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from django.db import transaction

from pipelines.cdc.applying.domain.messages import PipelineReport, TableReport
from pipelines.cdc.control.services.reports import minute_add
from pipelines.cdc.control.services.topics import topics_take
from pipelines.models import CapturedTable, Pipeline
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.runs.records.spools import open_spool

_SUMS = {
    "n_upserts": "n_upserted",
    "n_deletes": "n_deleted",
    "n_late": "n_late",
}
_FIELDS = (
    *("applied_batch", "applied_position", "applied_at", "data_at", "problem", "problem_code"),
    *("n_quarantined", "n_aside", "kept", "counted", "counted_run", "lake_columns"),
    *_SUMS,
)
_MILLISECONDS = 1_000
T = TypeVar("T", PipelineReport, TableReport)


def results_hear(run: Run, seen: Mapping[str, int], *, now: datetime) -> dict[str, int]:
    """Take in the files that changed since `seen`; returns when each file was written."""
    written = dict(seen)
    for pipeline_report in _changed(run, "pipelines", PipelineReport, written):
        _pipeline_take(run.lake, pipeline_report, now=now)
    for table_report in _changed(run, "tables", TableReport, written):
        _table_take(run, table_report, now=now)
    return written


def _changed(run: Run, folder: str, kind: type[T], written: dict[str, int]) -> Iterator[T]:
    spool = open_spool(run)
    try:
        files = spool.fs.children(spool.results.child(folder))
    except NotVisible:
        return
    for file in files:
        key = f"{folder}/{file.path.name}"
        if not file.path.name.endswith(".json") or written.get(key) == file.mtime_ms:
            continue
        try:
            yield msgspec.json.decode(spool.fs.read(file.path), type=kind)
        except (NotVisible, msgspec.DecodeError):
            continue  # it is written whole, so the next beat reads it
        written[key] = file.mtime_ms


def _pipeline_take(lake: str, told: PipelineReport, *, now: datetime) -> None:
    row = Pipeline.objects.filter(pk=told.id, lake=lake).first()
    if row is None:
        return
    problem = f"{told.failure.message}" if told.failure else ""
    applied = max(row.applied_batch, told.batch)
    Pipeline.objects.filter(pk=row.pk).update(
        apply_problem=problem, applied_batch=applied, n_unreadable=told.n_unreadable
    )
    if row.is_of_topics:
        topics_take(row, told, now=now)
    if told.lag_seconds:
        minute_add(row, apply_lag=told.lag_seconds, now=now)


@transaction.atomic
def _table_take(run: Run, told: TableReport, *, now: datetime) -> None:
    rows = CapturedTable.objects.select_for_update().filter(pk=told.id, lake=run.lake)
    row = rows.first()
    if row is None:
        return
    if told.batch > row.applied_batch or row.applied_at is None:
        row.applied_at = now
    row.applied_batch = max(row.applied_batch, told.batch)
    row.applied_position = told.position or row.applied_position
    if told.changed_at:
        row.data_at = datetime.fromtimestamp(told.changed_at / _MILLISECONDS, UTC)
    row.problem = told.failure.message if told.failure else ""
    row.problem_code = told.failure.code if told.failure else ""
    row.n_quarantined, row.n_aside = told.n_in_quarantine, told.n_waiting
    row.lake_columns = msgspec.to_builtins(told.columns)
    row.kept = {"quarantined": msgspec.to_builtins(told.quarantined), "aside": told.aside}
    mark = f"{run.pk}:{run.epoch}"
    before: Mapping[str, Any] = row.counted if row.counted_run == mark else {}
    counted = {}
    for field, name in _SUMS.items():
        counted[field] = getattr(told, name)
        grown = max(0, counted[field] - int(before.get(field, 0)))
        setattr(row, field, getattr(row, field) + grown)
    row.counted, row.counted_run = counted, mark
    row.save(update_fields=list(_FIELDS))
