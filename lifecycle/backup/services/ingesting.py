"""Updates the portal's catalogue of acting runs from the files beside the data."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from lifecycle.backup.domain.layout import Day
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.journal.catalogue import Entry, day_directories, read_entries
from lifecycle.backup.engine.journal.records import Outcome
from lifecycle.backup.models import ActFence, BackupBatch
from lifecycle.backup.services.catalogue_rows import batch_purged, batch_store
from lifecycle.backup.services.holds import holds_place_restored
from lifecycle.backup.services.reach import Place
from lifecycle.backup.services.totals import backup_totals_refresh
from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.lake.errors import DataSafetyError
from portal.runs.models import Run

# Outcomes after which an item stands where it stood, and nothing was done with it.
_LEFT_ALONE = (Outcome.SKIPPED, Outcome.DEFERRED, Outcome.CONFLICT)
_AS_ASKED = (Outcome.DROPPED, Outcome.RESTORED, Outcome.UNDONE, Outcome.MOVED)


@dataclass
class IngestReport:
    """What a run did, for mails and pages: one entry a (table, batch), and each item once.

    `window` is the longest time from a batch's first rename to its metadata drop.
    """

    run_id: UUID
    batches: list[dict[str, Any]] = field(default_factory=list)
    items: dict[str, tuple[str, str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    window: float | None = None

    @property
    def skipped(self) -> list[dict[str, str]]:
        """The items that went another way than asked, with why."""
        return [
            {"item": name, "outcome": str(outcome), "reason": reason}
            for name, (outcome, reason) in self.items.items()
            if outcome not in _AS_ASKED
        ]

    def is_acted_on(self, name: str) -> bool:
        """Whether something was done with an item, in whatever epoch."""
        return name in self.items and self.items[name][0] not in _LEFT_ALONE

    def put(self, name: str, outcome: str, reason: str) -> None:
        """Say what became of an item; a later epoch that left it alone does not undo that."""
        if outcome == Outcome.DEFERRED or (outcome in _LEFT_ALONE and self.is_acted_on(name)):
            return
        self.items[name] = (outcome, reason)

    def whole_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return a restore's or undo's result with what every epoch of the run did.

        A driver counts its own epoch. The files know of all of them; what was left alone without a
        trace in them stands in the result alone.
        """
        known = Counter(str(outcome) for outcome, _ in self.items.values())
        acted = {name: n for name, n in known.items() if name not in _LEFT_ALONE}
        left = {
            name: n for name, n in (result.get("counts") or known).items() if name in _LEFT_ALONE
        }
        return {**result, "counts": {**left, **acted}}

    def close(self, result: Mapping[str, Any]) -> None:
        """Add what only the manifest knows: what a restore left alone, what a purge did."""
        if not self.items:
            self.counts = dict(result.get("counts") or {})
        for entry in result.get("skipped") or ():
            self.items.setdefault(entry["item"], (entry["outcome"], entry["reason"]))
        self.counts = self.counts or dict(Counter(str(said) for said, _ in self.items.values()))


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

    Raises:
        DataSafetyError: `backup.manifest` after all else was taken in.
    """
    report = IngestReport(run_id=run.pk)
    restored: list[tuple[str, str, str]] = []
    changed: list[DataSafetyError] = []
    for fence in ActFence.objects.filter(run_id=run.pk).order_by("id"):
        if fence.kind == FenceKind.PURGE:
            _ingest_purged(fence, run, now=now)
        for entry in _entries(fence):
            _store(entry, report, changed, actor=run.requested_by, now=now)
            restored += _report(report, entry, run_id=str(run.pk), kind=FenceKind(fence.kind))
        backup_totals_refresh(run.lake, [fence.day])
    report.close((manifest or {}).get("result") or {})
    # Before the last transaction and in chunks of its own: there may be a hold an item.
    holds_place_restored(run.lake, restored, placed_by=run.requested_by, run_id=run.pk, now=now)
    if also is not None:
        with transaction.atomic():
            also(report)
    if changed:
        raise changed[0]
    return report


def backups_rebuild(
    lake: str, *, now: datetime, roots: Sequence[str] | None = None
) -> dict[str, int]:
    """Rebuild the catalogue of `lake` from the files under its backup roots; gives counts.

    Rows that are there are brought up to date, none is removed; a second call changes nothing.

    Raises:
        DataSafetyError: `backup.manifest` after all else was taken in.
    """
    config = get_lake(lake)
    counts = {"directories": 0, "batches": 0, "new": 0, "unsettled": 0}
    days: set[date] = set()
    reports: dict[str, IngestReport] = {}
    changed: list[DataSafetyError] = []
    for text in config.backup_roots if roots is None else roots:
        root = config.path(text)
        fs = open_file_system(root, config=config)
        for day, directory in day_directories(fs, root):
            counts["directories"] += 1
            days.add(day)
            for entry in read_entries(fs, Day(root, day), directory):
                if entry is None:
                    counts["unsettled"] += 1
                    continue
                run = entry.batch.intent.run
                report = reports.setdefault(run, IngestReport(UUID(run)))
                counts["batches"] += 1
                counts["new"] += _store(entry, report, changed, actor="rebuild", now=now)
                _report(report, entry, run_id=run, kind=FenceKind.DROP)
    backup_totals_refresh(lake, days)
    if changed:
        raise changed[0]
    return counts


def _entries(fence: ActFence) -> Iterator[Entry]:
    place = Place.of(fence)
    for directory in place.at_rest():
        for entry in read_entries(place.fs, place.day, directory):
            if entry is not None:
                yield entry


def _store(
    entry: Entry,
    report: IngestReport,
    changed: list[DataSafetyError],
    *,
    actor: str,
    now: datetime,
) -> bool:
    """Store a batch; what an earlier epoch of its run had dropped was no refusal of this one.

    One whose manifest is not the catalogue's is left out and joins `changed`.
    """
    refused = [
        one
        for one in entry.batch.intent.refused
        if not report.is_acted_on(_name(entry, one.partition))
    ]
    try:
        return batch_store(entry, refused=refused, actor=actor, now=now)
    except DataSafetyError as error:
        changed.append(error)
        return False


def _report(
    report: IngestReport, entry: Entry, *, run_id: str, kind: FenceKind
) -> list[tuple[str, str, str]]:
    """Add what this run did with a batch; returns the names that it restored."""
    intent = entry.batch.intent
    if kind is FenceKind.DROP:
        done = list(entry.done.items)
        for one in intent.refused:
            report.put(_name(entry, one.partition), Outcome.SKIPPED, one.reason)
        if entry.done.seconds is not None:
            report.window = max(report.window or 0.0, entry.done.seconds)
    else:
        done = [
            item
            for step in entry.steps
            if step.done is not None and step.intent.restore == run_id
            for item in step.done.items
        ]
    for item in done:
        report.put(_name(entry, item.partition), item.outcome, item.reason)
    if done:
        report.batches.append(entry.summary())
    return [
        (entry.restored_as(item.item) or (intent.db, intent.table)) + (item.partition,)
        for item in done
        if item.outcome is Outcome.RESTORED
    ]


def _name(entry: Entry, partition: str) -> str:
    intent = entry.batch.intent
    return f"{intent.db}.{intent.table}/{partition}" if partition else f"{intent.db}.{intent.table}"


def _ingest_purged(fence: ActFence, run: Run, *, now: datetime) -> None:
    """Backups that settle proved to be empty were purged with all that lay in them."""
    for claim in fence.claims:
        if claim.get("purged"):
            rows = BackupBatch.objects.filter(run_id=claim["run"], epoch=claim["epoch"])
            for row in rows.filter(purged_at__isnull=True):
                batch_purged(row, actor=run.requested_by, now=now)
