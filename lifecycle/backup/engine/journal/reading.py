"""Reads the intent and done files of one run's directory, beside the data."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lifecycle.backup.domain.layout import (
    batch_of_intent,
    batch_of_name,
    done_name,
    intent_name,
    purge_mark,
    read_restore_file,
)
from lifecycle.backup.engine.journal.records import (
    IN_BACKUP,
    BatchDone,
    BatchIntent,
    ItemIntent,
    Outcome,
    RestoreIntent,
)
from portal.connectors.file_status import FileSystem
from portal.lake.errors import DataSafetyError, NotVisible, StaleState
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """One batch as the files tell it; `done` is None while it is not settled."""

    directory: LakePath
    intent: BatchIntent
    done: BatchDone | None
    sha256: str


def names_by_batch(names: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """Group the names of a directory that tell of a batch by its number; those of items are left.

    The directory holds every item of a run, so whoever reads many of its batches lists it once.
    """
    found: dict[int, list[str]] = {}
    for name in names:
        batch = batch_of_name(name)
        if batch is not None:
            found.setdefault(batch, []).append(name)
    return {batch: tuple(told) for batch, told in found.items()}


class DirectoryNames:
    """Lists a directory again only when something was added to it, removed or renamed.

    For who only reads: a change within the millisecond of the listing is not seen. With
    `is_claimed` a directory is listed once: nobody else writes into it, and what the caller writes
    there itself it knows.
    """

    def __init__(self, *, is_claimed: bool = False) -> None:
        self._is_claimed = is_claimed
        self._known: dict[LakePath, tuple[int, dict[int, tuple[str, ...]]]] = {}

    def of(self, fs: FileSystem, directory: LakePath, batch: int) -> tuple[str, ...]:
        """Return the names of the files that tell of a batch; a missing directory is NotVisible."""
        status = fs.status(directory)
        changed = status.mtime_ms if status is not None and not self._is_claimed else 0
        known = self._known.get(directory)
        if status is None or known is None or known[0] != changed:
            known = (changed, names_by_batch(fs.names(directory)))
            self._known[directory] = known
        return known[1].get(batch, ())


def batch_numbers(fs: FileSystem, directory: LakePath) -> list[int]:
    """Return the numbers of all batches with an intent, in order; none where nothing is."""
    try:
        names = fs.names(directory)
    except NotVisible:
        return []
    return sorted(n for n in map(batch_of_intent, names) if n is not None)


def read_batch(fs: FileSystem, directory: LakePath, batch: int) -> JournalBatch:
    """Read one batch; a damaged file is a DataSafetyError."""
    data = fs.read(directory.child(intent_name(batch)))
    done_path = directory.child(done_name(batch))
    done = BatchDone.from_bytes(fs.read(done_path)) if fs.status(done_path) else None
    return JournalBatch(
        directory, BatchIntent.from_bytes(data), done, hashlib.sha256(data).hexdigest()
    )


def read_known_batch(
    fs: FileSystem, directory: LakePath, batch: int, *, sha256: str
) -> JournalBatch:
    """Read one batch whose manifest must be the catalogue's; else a DataSafetyError."""
    found = read_batch(fs, directory, batch)
    if found.sha256 != sha256:
        raise other_manifest(found)
    return found


def other_manifest(batch: JournalBatch) -> DataSafetyError:
    """Return the error for a manifest that is not the one which the catalogue knows."""
    intent = batch.intent
    return DataSafetyError(
        "backup.manifest",
        f"The manifest of {intent.db}.{intent.table} #{intent.batch} of {intent.run} is not the "
        "one that was written. Do not restore from it.",
        path=batch.directory,
    )


@dataclass(frozen=True, slots=True)
class RestoreStep:
    """One restore of items of one batch; `done` is None while it is not settled."""

    stem: str
    intent: RestoreIntent
    done: BatchDone | None


def restore_steps(
    fs: FileSystem,
    directory: LakePath,
    batch: int | None = None,
    *,
    names: Iterable[str] | None = None,
) -> list[RestoreStep]:
    """Read what restores did, or began to do, with a directory's items (of one batch).

    `names` are those of the directory, or of the batch (`names_by_batch`), where they are known.
    """
    found = fs.names(directory) if names is None else names
    files = [read_restore_file(name) for name in found]
    wanted = [file for file in files if file and batch in (None, file.batch)]
    done = {file.stem for file in wanted if file.is_done}
    return [
        RestoreStep(
            file.stem,
            RestoreIntent.from_bytes(fs.read(directory.child(f"{file.stem}.intent.json"))),
            BatchDone.from_bytes(fs.read(directory.child(f"{file.stem}.done.json")))
            if file.stem in done
            else None,
        )
        for file in wanted
        if not file.is_done
    ]


def restored_items(steps: list[RestoreStep], *, by: str | None = None) -> frozenset[str]:
    """Return the items that a restore (`by` = this one) brought back, and no undo took back."""
    return frozenset(item for run, item in standing_items(steps) if by in (None, run))


def items_under_way(steps: list[RestoreStep]) -> frozenset[str]:
    """Return the items of restore steps that are not settled: one acts on them now, or died."""
    return frozenset(
        target.item for step in steps if step.done is None for target in step.intent.items
    )


def standing_items(steps: list[RestoreStep]) -> frozenset[tuple[str, str]]:
    """Return what restores brought back and no undo took back, as (restore, item)."""
    done = [
        (step.intent, item.outcome, item.item)
        for step in steps
        if step.done is not None
        for item in step.done.items
    ]
    brought = {(one.restore, item) for one, outcome, item in done if outcome is Outcome.RESTORED}
    return frozenset(brought) - {
        (one.undoes, item) for one, outcome, item in done if outcome is Outcome.UNDONE
    }


def items_in_backup(batch: JournalBatch) -> list[ItemIntent]:
    """Give the items whose data a run put into the backup, in order; none while it is not settled.

    What came back since is among them.
    """
    done = batch.done
    if done is None:
        return []
    outcomes = {one.item: one.outcome for one in done.items}
    return [item for item in batch.intent.items if outcomes.get(item.item) in IN_BACKUP]


def items_left(
    fs: FileSystem, batch: JournalBatch, *, names: Iterable[str] | None = None
) -> list[ItemIntent]:
    """Return the items whose data must lie in the backup: dropped, and not brought back.

    `names` as for `restore_steps`.

    Raises:
        StaleState: `act.unsettled`, the run that made the backup has not been settled yet.
    """
    if batch.done is None:
        raise StaleState("act.unsettled", "The run that made this backup has not been settled yet.")
    steps = restore_steps(fs, batch.directory, batch.intent.batch, names=names)
    restored = restored_items(steps)
    return [item for item in items_in_backup(batch) if item.item not in restored]


def has_purge_begun(fs: FileSystem, batch: JournalBatch) -> bool:
    """Whether a purge has put its mark on a batch: what is left of it is not whole any more."""
    return fs.status(batch.directory.child(purge_mark(batch.intent.batch))) is not None


def is_unsettled(fs: FileSystem, directory: LakePath) -> bool:
    """Whether any drop or restore intent in a directory has no done."""
    names = set(fs.names(directory))
    drops = [n for n in map(batch_of_intent, names) if n is not None]
    restores = [file for file in map(read_restore_file, names) if file and not file.is_done]
    return any(done_name(n) not in names for n in drops) or any(
        f"{file.stem}.done.json" not in names for file in restores
    )


def batches(fs: FileSystem, directory: LakePath) -> Iterator[JournalBatch]:
    """Read all batches of a directory, in order, one at a time."""
    for number in batch_numbers(fs, directory):
        yield read_batch(fs, directory, number)
