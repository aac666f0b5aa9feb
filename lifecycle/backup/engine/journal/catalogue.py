"""Reads the entry of one batch of a backup from its files. Used by ingest and rebuild."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from lifecycle.backup.domain.layout import Day, intent_name, purge_mark, read_claimed
from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    RestoreStep,
    items_in_backup,
    items_left,
    names_by_batch,
    read_batch,
    restore_steps,
    restored_items,
    standing_items,
)
from lifecycle.backup.engine.journal.records import BatchDone, ItemIntent
from portal.connectors.file_status import FileStatus, FileSystem
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class Entry:
    """One settled batch with all that happened to it since.

    `is_purged`: a purge has begun with it; `is_empty`: and nothing of its data is left.
    """

    day: Day
    batch: JournalBatch
    done: BatchDone
    steps: list[RestoreStep]
    is_purged: bool
    is_empty: bool

    @property
    def kept(self) -> list[ItemIntent]:
        """The items whose data went into the backup."""
        return items_in_backup(self.batch)

    @property
    def restored(self) -> frozenset[str]:
        """The items that came back."""
        return restored_items(self.steps) & {item.item for item in self.kept}

    @property
    def state(self) -> BackupState:
        """Where the batch's data is."""
        if not self.kept:
            return BackupState.REPORTED
        if len(self.restored) == len(self.kept):
            return BackupState.RESTORED
        if self.is_purged:
            return BackupState.PURGED if self.is_empty else BackupState.PURGING
        return BackupState.PARTLY_RESTORED if self.restored else BackupState.DROPPED

    def restored_as(self, item: str) -> tuple[str, str] | None:
        """Return the (db, table) under which an item came back."""
        standing = standing_items(self.steps)
        for step in self.steps:
            is_meant = any(target.item == item for target in step.intent.items)
            if is_meant and (step.intent.restore, item) in standing:
                return step.intent.db, step.intent.table
        return None

    @property
    def away(self) -> timedelta:
        """For how long restores that were undone had the data out of the backup, at the longest."""
        back = {step.intent.restore: step.intent.at for step in self.steps}
        spans = [
            datetime.fromisoformat(step.done.at) - datetime.fromisoformat(back[step.intent.undoes])
            for step in self.steps
            if step.done is not None and step.intent.undoes in back
        ]
        return sum(spans, timedelta(0))

    def summary(self) -> dict[str, Any]:
        """Return what mails and pages say of the batch."""
        intent = self.batch.intent
        return {
            "db": intent.db,
            "table": intent.table,
            "table_owner": intent.table_owner,
            "batch": intent.batch,
            "epoch": intent.epoch,
            "state": str(self.state),
            "n_items": len(self.kept),
            "n_files": sum(item.n_files for item in self.kept),
            "n_bytes": sum(item.n_bytes for item in self.kept),
            "n_restored": len(self.restored),
        }


def read_entries(fs: FileSystem, day: Day, directory: LakePath) -> Iterator[Entry | None]:
    """Read every batch of a directory with one listing of it; None for one that is not settled."""
    try:
        names = names_by_batch(fs.names(directory))
    except NotVisible:
        return
    for number in sorted(names):
        if intent_name(number) in names[number]:
            yield read_entry(fs, day, directory, number, names=names[number])


def read_entry(
    fs: FileSystem, day: Day, directory: LakePath, number: int, *, names: Sequence[str]
) -> Entry | None:
    """Read a batch of which these files tell; None while it is not settled."""
    batch = read_batch(fs, directory, number)
    if batch.done is None:
        return None
    is_purged = purge_mark(number) in names
    left = items_left(fs, batch, names=names) if is_purged else []
    return Entry(
        day=day,
        batch=batch,
        done=batch.done,
        steps=restore_steps(fs, directory, number, names=names),
        is_purged=is_purged,
        is_empty=is_purged and not any(_lies_there(fs, batch, item) for item in left),
    )


def _lies_there(fs: FileSystem, batch: JournalBatch, item: ItemIntent) -> bool:
    return fs.status(batch.directory.child(item.item)) is not None


def day_directories(fs: FileSystem, root: LakePath) -> Iterator[tuple[date, LakePath]]:
    """Yield every backup under a root, sealed or just claimed by a restore or purge."""
    for child in _directories(fs, root):
        try:
            day = date.fromisoformat(child.path.name)
        except ValueError:
            continue
        for run in _directories(fs, child.path.child("sealed")):
            for epoch in _directories(fs, run.path):
                yield day, epoch.path
        for taker in ("restoring", "purging"):
            for run in _directories(fs, child.path.child(taker)):
                for epoch in _directories(fs, run.path):
                    for claimed in _directories(fs, epoch.path):
                        if read_claimed(claimed.path.name):
                            yield day, claimed.path


def _directories(fs: FileSystem, path: LakePath) -> list[FileStatus]:
    try:
        return [status for status in fs.children(path) if status.is_dir]
    except NotVisible:
        return []
