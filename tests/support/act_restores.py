"""Restores with choices and their undo, on a small lake, from claim to release."""

import json
import uuid
from dataclasses import replace
from typing import Any

from lifecycle.backup.engine.journal.reading import batches
from lifecycle.backup.engine.journal.records import FileFact
from lifecycle.backup.engine.protocol import ActResult
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import NewName
from lifecycle.backup.engine.restore.target import parents_above
from lifecycle.backup.engine.settle.batches import make_parents
from lifecycle.backup.engine.undo.batches import UndoOrder, undo_batches
from portal.lake.paths import LakePath
from tests.support.act_lake import ActLake


def restore(lake: ActLake, run: str, **choices: Any) -> tuple[str, ActResult]:
    """Restore from a sealed backup as one run, as the portal does; returns the run's id, too."""
    restore_id = str(uuid.uuid4())
    claimed = lake.claim(run, restore_id)
    tools = lake.tools(claimed.parent)
    order = replace(lake.restore_order(run, restore_id), **choices)
    if order.new_name is not None:
        make_places(lake, claimed, order.new_name)
    result = restore_batches(order, tools_of=lambda _directory: tools)
    lake.release(run, restore_id)
    return restore_id, result


def make_places(lake: ActLake, claimed: LakePath, to: NewName) -> None:
    """Make what must stand above the new places, as the portal does before a restore."""
    for batch in batches(lake.fs, claimed):
        for item in batch.intent.items:
            make_parents(lake.fs, parents_above(item, to.location))


def undo(lake: ActLake, run: str, restore_id: str, **tools: Any) -> ActResult:
    """Undo a restore as one run."""
    undo_id = str(uuid.uuid4())
    claimed = lake.claim(run, undo_id)
    order = lake.restore_order(run, undo_id)
    mine = replace(lake.tools(claimed.parent), **tools)
    try:
        return undo_batches(
            UndoOrder(undo_id, 1, order.lake, restore_id, order.batches),
            tools_of=lambda _directory: mine,
        )
    finally:
        lake.release(run, undo_id)


def backup_of(lake: ActLake, run: str) -> dict[str, tuple[FileFact, ...]]:
    """Return what lies in a sealed backup, item by item, as manifests tell of files."""
    return {
        item.partition: lake.files(batch.directory.child(item.item))
        for batch in batches(lake.fs, lake.day.sealed(run, 1))
        for item in batch.intent.items
    }


def lake_of(lake: ActLake) -> dict[str, Any]:
    """Return all that is registered and all that lies in the lake beside its backups.

    Of a directory that items stand in, the time is left out: every move through it sets another.
    """
    found: dict[str, Any] = {}
    for table in lake.metastore.tables(lake.db):
        name = lake.table_name(table)
        struct = lake.metastore.table(name)
        names = lake.metastore.partition_names(name) if struct.partitionKeys else []
        parts = lake.metastore.partitions_by_names(name, names)
        found[table] = [json.dumps(one, default=vars, sort_keys=True) for one in (struct, *parts)]
    facts = lake.files(lake.db_path)
    holds_files = {fact.path.rpartition("/")[0] for fact in facts if not fact.is_dir}
    found[""] = [
        fact if not fact.is_dir or fact.path in holds_files else replace(fact, mtime_ms=0)
        for fact in facts
    ]
    return found


def elsewhere(lake: ActLake, table: str, *, into: bool = False) -> NewName:
    """Return another name, below the database as the portal places it."""
    return NewName(lake.db, table, lake.db_path.child(table), into=into)
