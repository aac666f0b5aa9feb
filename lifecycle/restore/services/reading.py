"""Reads a backup's contents and previews what a restore would meet now. Runs in workers.

Reads the journal beside the data through the connectors. The preview decides by the very function
that the restore uses, so that what was shown is what happens.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from typing import Any, NoReturn

from django.db import transaction

from lifecycle.backup.domain.restore_choice import BROUGHT, CONFLICTS, Choice
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.contents import Contents, contents_of
from lifecycle.backup.engine.journal.reading import (
    DirectoryNames,
    JournalBatch,
    items_in_backup,
    read_known_batch,
    restore_steps,
)
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.restore.batches import Candidate, choose
from lifecycle.backup.engine.restore.order import RestoreOrder
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.locating import read_where_it_lies, restore_that_has
from lifecycle.drop.domain.loss_words import NOT_RECORDED, NOT_RESTORED
from lifecycle.models import BackupSlice
from lifecycle.restore.services.names import new_name_of, place_of
from portal.access.lakes import get_lake
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import StaleState
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath
from portal.safety.fence import Fence

ROWS_SHOWN = 1_000
OTHER_RESTORE = (
    "Another restore of this day is under way. What is chosen here begins when that one has ended."
)


def read_verified(batch: BackupBatch, *, config: LakeConfig, fs: FileSystem) -> JournalBatch:
    """Read a batch's files; a manifest that is not the catalogue's is a DataSafetyError."""
    return read_where_it_lies(
        batch, lambda directory: _read(batch, directory, fs=fs), config=config, fs=fs
    )


def _read(batch: BackupBatch, directory: LakePath, *, fs: FileSystem) -> JournalBatch:
    return read_known_batch(fs, directory, batch.batch, sha256=batch.manifest_sha256)


def backup_items_copy(batch: BackupBatch, *, now: datetime) -> int:
    """Copy the items of one batch into the database; copied again, the rows are the same."""
    config = get_lake(batch.lake)
    fs = open_file_system(config.path(batch.path), config=config)
    items = items_in_backup(read_verified(batch, config=config, fs=fs))
    rows = [
        BackupSlice(
            batch=batch,
            partition=item.partition,
            source=item.source,
            n_files=item.n_files,
            n_bytes=item.n_bytes,
            read_at=now,
        )
        for item in items
    ]
    with transaction.atomic():
        BackupSlice.objects.filter(batch=batch).delete()
        BackupSlice.objects.bulk_create(rows, batch_size=500)
    return len(rows)


def backup_contents(batches: Iterable[BackupBatch], *, lake: str) -> dict[str, Any]:
    """Add up what some batches of one table hold, from their manifests."""
    config = get_lake(lake)
    found = Contents()
    names = DirectoryNames()
    for batch in batches:
        fs = open_file_system(config.path(batch.path), config=config)

        def read(
            directory: LakePath, *, batch: BackupBatch = batch, fs: FileSystem = fs
        ) -> Contents:
            told = names.of(fs, directory, batch.batch)
            steps = restore_steps(fs, directory, batch.batch, names=told)
            return contents_of(_read(batch, directory, fs=fs), steps)

        found.add(read_where_it_lies(batch, read, config=config, fs=fs))
    return found.as_dict()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the batches is wanted back, and where."""

    partitions: frozenset[str] | None = None
    only_missing: bool = False
    to: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Wanted":
        """Read a preview's params."""
        names = params["partitions"]
        return cls(
            None if names is None else frozenset(names),
            bool(params.get("only_missing")),
            params.get("to"),
        )


def restore_preview(
    batches: Iterable[BackupBatch], *, lake: str, wanted: Wanted, now: datetime
) -> dict[str, Any]:
    """Say for every item what a restore would do now; rows of conflicts come first."""
    config = get_lake(lake)
    batches = list(batches)
    with Metastore.connect(config) as metastore:
        place = place_of(wanted.to, config=config, metastore=metastore)
        order = RestoreOrder(
            run="preview",
            epoch=0,
            lake=LakeId(lake),
            batches=(),
            partitions=wanted.partitions,
            new_name=new_name_of(place, config=config),
            only_missing=wanted.only_missing,
        )
        names = DirectoryNames()
        counts: Counter[str] = Counter()
        rows: list[dict[str, str]] = []
        unrecorded = False
        for batch in batches:
            more, is_unrecorded = _rows(
                batch, order, config=config, metastore=metastore, names=names, now=now
            )
            counts.update(row["choice"] for row in more)
            # What is shown is kept, and no more: a day may hold hundreds of thousands of items.
            rows = nsmallest(ROWS_SHOWN, [*rows, *more], key=_conflicts_first)
            unrecorded |= is_unrecorded
    return {
        "counts": dict(counts),
        "n_items": counts.total(),
        "n_ready": sum(counts.get(choice, 0) for choice in BROUGHT),
        "n_conflicts": sum(counts.get(choice, 0) for choice in CONFLICTS),
        "to": place,
        "not_restored": list(NOT_RESTORED),
        "not_recorded": [NOT_RECORDED] if unrecorded else [],
        "waits": OTHER_RESTORE if restore_that_has(batches) else "",
        "rows": rows,
    }


def _conflicts_first(row: Mapping[str, str]) -> tuple[bool, str]:
    return Choice(row["choice"]) not in CONFLICTS, row["name"]


def _rows(
    batch: BackupBatch,
    order: RestoreOrder,
    *,
    config: LakeConfig,
    metastore: Metastore,
    names: DirectoryNames,
    now: datetime,
) -> tuple[list[dict[str, str]], bool]:
    """Return a row an item, and whether one was recorded without what belongs to it."""
    fs = open_file_system(config.path(batch.path), config=config)

    def decide(directory: LakePath) -> list[Candidate]:
        tools = Tools(
            fs=fs,
            metastore=metastore,
            fence=Fence(fs, directory, clock=lambda: now),
            lister=list_here(fs),
            control=_never_asked,
            clock=lambda: now,
        )
        told = names.of(fs, directory, batch.batch)
        return choose(order, _read(batch, directory, fs=fs), tools, names=told)

    table = f"{batch.db}.{batch.table}"
    chosen = [
        one
        for one in read_where_it_lies(batch, decide, config=config, fs=fs)
        if one.choice is not Choice.NOT_IN_BACKUP
    ]
    rows = [
        {
            "name": f"{table}/{one.intent.partition}" if one.intent.partition else table,
            "choice": one.choice.value,
            "reason": one.reason,
            "target": str(one.target),
        }
        for one in chosen
    ]
    return rows, any(one.intent.extras is None for one in chosen)


def _never_asked() -> NoReturn:
    raise StaleState("restore.preview", "A preview changes nothing and asks for no leave.")
