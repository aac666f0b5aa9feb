"""Reads what a run of moves did from the files beside the data."""

from collections.abc import Mapping
from typing import Any

from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import Outcome
from lifecycle.backup.engine.move.records import move_batches
from lifecycle.backup.models import ActFence
from lifecycle.backup.services.ingesting import IngestReport
from lifecycle.backup.services.reach import Place
from portal.runs.models import Run

UNSETTLED = "UNSETTLED"
_LOOK = "a move was left half done and its state is not clear; see why the emergency stop is on"


def moves_read(run: Run, manifest: Mapping[str, Any] | None) -> IngestReport:
    """Read every epoch of a settled run of moves; it changes nothing, the room keeps the rows."""
    report = IngestReport(run_id=run.pk)
    fences = ActFence.objects.filter(run_id=run.pk, kind=FenceKind.MOVE)
    for fence in fences.order_by("id"):
        place = Place.of(fence)
        for directory in place.at_rest():
            for batch in move_batches(place.fs, directory):
                _report(report, batch)
    report.close((manifest or {}).get("result") or {})
    return report


def _report(report: IngestReport, batch: JournalBatch) -> None:
    """Add what one batch says; of one that could not be settled a person must look at each item."""
    table = f"{batch.intent.db}.{batch.intent.table}"
    if batch.done is None:
        for intent in batch.intent.items:
            report.put(_name(table, intent.partition), UNSETTLED, _LOOK)
        return
    for one in batch.intent.refused:
        report.put(_name(table, one.partition), Outcome.SKIPPED, one.reason)
    for item in batch.done.items:
        report.put(_name(table, item.partition), item.outcome, item.reason)
    if batch.done.seconds is not None:
        report.window = max(report.window or 0.0, batch.done.seconds)


def _name(table: str, partition: str) -> str:
    return f"{table}/{partition}" if partition else table
