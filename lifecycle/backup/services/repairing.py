"""Registers an item again when a zombie's DROP reaches the metastore after its return.

A client frozen between its last look and its send cannot be fenced. Its DROP arrives as an event;
if it hits what a restore (or settle, of a drop or of an undo) brought back a short while ago, and
the data still stands, the item is registered again. An owner's own later DROP is left alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.extras import with_accuracy
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.reading import (
    DirectoryNames,
    JournalBatch,
    RestoreStep,
    read_known_batch,
    restore_steps,
)
from lifecycle.backup.engine.journal.records import ItemIntent, Outcome, files_of, shortfall
from lifecycle.backup.engine.metastore.extras_return import return_again, return_extras
from lifecycle.backup.engine.metastore.registry import add_again, names_registered
from lifecycle.backup.engine.restore.register import register
from lifecycle.backup.engine.settle.batches import name_of
from lifecycle.backup.selectors import REPAIR_WINDOW, repairable_batches
from portal.access.lakes import get_lake
from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.metastore import Metastore, from_json
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class _Back:
    """One item that came back: where it stands, and the restore step if it was one."""

    item: ItemIntent
    live: LakePath
    step: RestoreStep | None


def drop_repair(
    lake: str, *, db: str, table: str, partitions: list[str], now: datetime
) -> list[str]:
    """Add again what a DROP event took although it had been brought back; gives their names.

    `partitions` is empty for a DROP TABLE. Safe to call for any DROP event and more than once: only
    items that came back within the last hour, whose data is whole at the live place and whose name
    is free, are added.
    """
    config = get_lake(lake)
    name = TableName(LakeId(lake), db, table)
    wanted = frozenset(partitions or [""])
    repaired: dict[str, str] = {}
    names = DirectoryNames()
    for row in repairable_batches(lake, db, table, now=now).iterator(chunk_size=500):
        directory = config.path(row.path)
        fs = open_file_system(directory, config=config)
        if fs.status(directory) is None:
            continue
        batch = read_known_batch(fs, directory, row.batch, sha256=row.manifest_sha256)
        told = names.of(fs, directory, row.batch)
        steps = restore_steps(fs, directory, row.batch, names=told)
        back = [
            one for one in _came_back(batch, steps, name, now=now) if one.item.partition in wanted
        ]
        if back:
            with Metastore.connect(config) as metastore:
                repaired |= _repair(batch, name, back, fs=fs, metastore=metastore)
    entries = [
        AuditEntry(
            "item.repaired",
            "system",
            lake,
            "item",
            f"{name}/{partition}".rstrip("/"),
            {"missing": missing} if missing else {},
        )
        for partition, missing in repaired.items()
    ]
    audit_record_many(entries, now=now)
    return list(repaired)


def _came_back(
    batch: JournalBatch, steps: Iterable[RestoreStep], name: TableName, *, now: datetime
) -> Iterator[_Back]:
    """Yield what came back under `name` lately: by a restore, or taken back by settle."""
    items = {item.item: item for item in batch.intent.items}
    for step in steps:
        if step.done is None or _is_over(step.done.at, now):
            continue
        if (step.intent.db, step.intent.table) != (name.db, name.table):
            continue
        # What an undo began to take away and settle gave back stands restored as before.
        outcome = Outcome.RETURNED if step.intent.undoes else Outcome.RESTORED
        back = _with(step.done.items, outcome)
        for target in step.intent.items:
            if target.item in back:
                yield _Back(items[target.item], LakePath.parse(target.target), step)
    done = batch.done
    if done is not None and name_of(batch.intent) == name and not _is_over(done.at, now):
        for item in _with(done.items, Outcome.RETURNED):
            yield _Back(items[item], LakePath.parse(items[item].source), None)


def _repair(
    batch: JournalBatch,
    name: TableName,
    back: list[_Back],
    *,
    fs: FileSystem,
    metastore: Metastore,
) -> dict[str, str]:
    """Register what may be, with what belongs to it.

    Returns by partition what did not come back.
    """
    taken = names_registered(metastore, name, [one.item.partition for one in back])
    lister = list_here(fs)
    whole = []
    for one in back:
        found = files_of(lister([one.live]).get(one.live, ()), root=one.live)
        if one.item.partition not in taken and not shortfall(one.item.files, found):
            whole.append(one)
    said: dict[str, str] = {}
    for step in {one.step.stem: one.step for one in whole if one.step is not None}.values():
        ours = frozenset(one.item.item for one in whole if one.step == step)
        register(metastore, batch, step.intent, only=ours)
        said |= return_extras(metastore, batch, step.intent, only=ours)
    returned = [one.item for one in whole if one.step is None]
    add_again(metastore, batch.intent, returned, change=_no_column_right)
    said |= return_again(
        metastore,
        name_of(batch.intent),
        returned,
        parameters={one.partition: _parameters(one) for one in returned},
    )
    return {one.item.partition: said.get(one.item.item, "") for one in whole}


def _parameters(item: ItemIntent) -> dict[str, str]:
    struct: Any = from_json(ttypes.Partition if item.partition else ttypes.Table, item.metadata)
    return dict(struct.parameters or {})


def _no_column_right(struct: Any, _item: ItemIntent) -> Any:
    """Call no column's statistics right before they are back."""
    struct.parameters = with_accuracy(struct.parameters or {}, ())
    return struct


def _with(items: Iterable[Any], outcome: Outcome) -> frozenset[str]:
    return frozenset(item.item for item in items if item.outcome is outcome)


def _is_over(at: str, now: datetime) -> bool:
    return now - datetime.fromisoformat(at) >= REPAIR_WINDOW
