"""Restores with choices and their undo, on a small lake, from claim to release."""

import uuid
from dataclasses import replace
from typing import Any

from portal.act.journal import batches
from portal.act.protocol import ActResult
from portal.act.records import FileFact
from portal.act.restore import NewName, restore_batches, target_of
from portal.act.restore_target import parents_of_target
from portal.act.settle import make_parents
from portal.act.undo import UndoOrder, undo_batches
from tests.support.act_lake import ActLake


def restore(lake: ActLake, run: str, **choices: Any) -> tuple[str, ActResult]:
    """Restore from a sealed backup as one run, as the portal does; gives the run's id, too."""
    restore_id = str(uuid.uuid4())
    claimed = lake.claim(run, restore_id)
    tools = lake.tools(claimed.parent)
    order = replace(lake.restore_order(run, restore_id), **choices)
    if order.new_name is not None:
        above = order.new_name.location.parent
        for batch in batches(lake.fs, claimed):
            for item in batch.intent.items:
                target = target_of(order, item)
                make_parents(lake.fs, parents_of_target(item, target, below=above))
    result = restore_batches(order, tools_of=lambda _directory: tools)
    lake.release(run, restore_id)
    return restore_id, result


def undo(lake: ActLake, run: str, restore_id: str, **tools: Any) -> ActResult:
    """Take a restore back as one run."""
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
    """Give what lies in a sealed backup, item by item, as manifests tell of files."""
    return {
        item.partition: lake.files(batch.directory.child(item.item))
        for batch in batches(lake.fs, lake.day.sealed(run, 1))
        for item in batch.intent.items
    }


def elsewhere(lake: ActLake, table: str, *, into: bool = False) -> NewName:
    """Give another name, below the database as the portal places it."""
    return NewName(lake.db, table, lake.db_path.child(table), into=into)
