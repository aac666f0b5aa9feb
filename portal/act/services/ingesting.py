"""How does the portal's catalogue learn what acting runs did, from the files beside the data?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.access.lakes import get_lake
from portal.act.catalogue import Entry, day_directories, read_entry
from portal.act.journal import batch_numbers
from portal.act.layout import Day
from portal.act.models import ActFence, BackupBatch
from portal.act.records import Outcome
from portal.act.services.catalogue_rows import batch_store
from portal.act.services.holds import holds_place_restored
from portal.act.services.reach import Place
from portal.act.states import BackupState, FenceKind
from portal.audit.services import audit_record
from portal.connectors.filesystem import open_file_system
from portal.runs.models import Run


@dataclass
class IngestReport:
    """What a run did, for mails and pages: one entry a (table, batch), and each skipped item."""

    run_id: UUID
    batches: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    acted_on: set[str] = field(default_factory=set)


def act_ingest(
    run: Run,
    manifest: Mapping[str, Any] | None,
    *,
    now: datetime,
    also: Callable[[IngestReport], None] | None = None,
) -> IngestReport:
    """Bring a settled run into the catalogue: upsert on (run, table, batch), one event an item.

    A batch's row and its events are one transaction; `also` (the rooms queue their notices there)
    runs in the last. Called twice it changes nothing and gives the same report.
    """
    report = IngestReport(run_id=run.pk)
    result = (manifest or {}).get("result") or {}
    report.skipped += result.get("skipped") or []
    restored: list[tuple[str, str, str]] = []
    for fence in ActFence.objects.filter(run_id=run.pk).order_by("id"):
        if fence.kind == FenceKind.PURGE:
            _ingest_purged(fence, run, report, now=now)
        for entry in _entries(fence):
            batch_store(entry, actor=run.requested_by, now=now)
            restored += _report(report, entry, run_id=str(run.pk), kind=FenceKind(fence.kind))
    _count_refused(report, result)
    with transaction.atomic():
        holds_place_restored(run.lake, restored, placed_by=run.requested_by, run_id=run.pk, now=now)
        if also is not None:
            also(report)
    return report


def backups_rebuild(
    lake: str, *, now: datetime, roots: Sequence[str] | None = None
) -> dict[str, int]:
    """Rebuild the catalogue of `lake` from the files under its backup roots; gives counts.

    Rows that are there are brought up to date, none is removed; a second call changes nothing.
    """
    config = get_lake(lake)
    counts = {"directories": 0, "batches": 0, "new": 0, "unsettled": 0}
    for text in config.backup_roots if roots is None else roots:
        root = config.path(text)
        fs = open_file_system(root, config=config)
        for day, directory in day_directories(fs, root):
            counts["directories"] += 1
            for number in batch_numbers(fs, directory):
                entry = read_entry(fs, Day(root, day), directory, number)
                if entry is None:
                    counts["unsettled"] += 1
                    continue
                counts["batches"] += 1
                counts["new"] += batch_store(entry, actor="rebuild", now=now)
    return counts


def _entries(fence: ActFence) -> Iterator[Entry]:
    place = Place.of(fence)
    for directory in place.at_rest():
        for number in batch_numbers(place.fs, directory):
            entry = read_entry(place.fs, place.day, directory, number)
            if entry is not None:
                yield entry


def _report(
    report: IngestReport, entry: Entry, *, run_id: str, kind: FenceKind
) -> list[tuple[str, str, str]]:
    """Add what this run did with a batch; gives the names that it restored."""
    intent = entry.batch.intent
    if kind is FenceKind.DROP:
        outcomes = [(item, item.outcome) for item in entry.done.items]
    else:
        outcomes = [
            (item, item.outcome)
            for step in entry.steps
            if step.done is not None and step.intent.restore == run_id
            for item in step.done.items
        ]
    for item, outcome in outcomes:
        report.counts[str(outcome)] = report.counts.get(outcome, 0) + 1
        if outcome not in (Outcome.SKIPPED, Outcome.DEFERRED, Outcome.CONFLICT):
            report.acted_on.add(f"{intent.db}.{intent.table}/{item.partition}".rstrip("/"))
    if outcomes:
        report.batches.append(entry.summary())
    return [
        (entry.restored_as(item.item) or (intent.db, intent.table)) + (item.partition,)
        for item, outcome in outcomes
        if outcome is Outcome.RESTORED
    ]


def _count_refused(report: IngestReport, result: Mapping[str, Any]) -> None:
    """Count the items that never came into an intent, of which only the manifest knows.

    An item that an earlier epoch of the run has dropped was no refusal.
    """
    report.counts.pop(Outcome.DEFERRED, None)
    report.skipped = [entry for entry in report.skipped if entry["item"] not in report.acted_on]
    if not report.counts:
        report.counts = dict(result.get("counts") or {})
    elif "n_items" in result:
        n_acted_on = sum(n for key, n in report.counts.items() if key != Outcome.SKIPPED)
        report.counts[str(Outcome.SKIPPED)] = int(result["n_items"]) - n_acted_on
    report.counts = {key: n for key, n in report.counts.items() if n > 0}


def _ingest_purged(fence: ActFence, run: Run, report: IngestReport, *, now: datetime) -> None:
    """Batches whose directory is gone altogether were purged with all that lay in it."""
    place = Place.of(fence)
    for ref, directory in zip(place.claims, place.at_rest(), strict=True):
        if place.fs.status(directory) is not None:
            continue
        rows = BackupBatch.objects.filter(run_id=ref.run, epoch=ref.epoch).exclude(
            state=BackupState.PURGED
        )
        for row in rows:
            _row_purged(row, actor=run.requested_by, now=now)
        n_gone = BackupBatch.objects.filter(
            run_id=ref.run, epoch=ref.epoch, state=BackupState.PURGED
        ).count()
        report.counts["PURGED"] = report.counts.get("PURGED", 0) + n_gone


def _row_purged(row: BackupBatch, *, actor: str, now: datetime) -> None:
    """Say in the catalogue that a batch is gone for good."""
    with transaction.atomic():
        changed = (
            BackupBatch.objects.filter(pk=row.pk)
            .exclude(state=BackupState.PURGED)
            .update(state=BackupState.PURGED, purged_at=now)
        )
        if changed:
            audit_record(
                "backup.purged",
                actor=actor,
                lake=row.lake,
                object_type="backup",
                object_id=str(row.public_id),
                data={"db": row.db, "table": row.table, "run": str(row.run_id), "batch": row.batch},
                now=now,
            )
