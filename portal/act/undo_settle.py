"""What has an undo of a restore left half done? Readers come first: what is not done goes back.

M = registered with our mark, S = the live place exists, D = the item is in the backup.
"""

from enum import StrEnum
from typing import Any

from portal.act.journal import JournalBatch, RestoreStep
from portal.act.records import (
    FileFact,
    ItemIntent,
    Outcome,
    RestoreIntent,
    files_of,
    shortfall,
)
from portal.act.registry import add_again, structs_of
from portal.act.restore_target import parents_of_target
from portal.act.settle import SettleTools, make_parents, without_statistics
from portal.act.tags import RESTORED_FROM, tag_of, tagged, tagged_table
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


class Way(StrEnum):
    """What an item of an undo is found in."""

    NOTHING_HAPPENED = "NOTHING_HAPPENED"
    HALF_DONE = "HALF_DONE"
    DONE = "DONE"
    NEW_DATA = "NEW_DATA"
    DROPPED_BY_OTHERS = "DROPPED_BY_OTHERS"
    DANGER = "DANGER"


_TABLE = {
    (True, True, False): Way.NOTHING_HAPPENED,
    (True, False, True): Way.HALF_DONE,
    (False, False, True): Way.DONE,
    (True, True, True): Way.NEW_DATA,
    (False, True, True): Way.NEW_DATA,
    (False, True, False): Way.DROPPED_BY_OTHERS,
}


def decide_undo(*, is_ours: bool, has_live: bool, has_backup: bool, is_short: bool = False) -> Way:
    """Decide what M, S, D mean; `is_short` says that the backup lacks files of its manifest."""
    if has_backup and is_short:
        return Way.DANGER
    return _TABLE.get((is_ours, has_live, has_backup), Way.DANGER)


def undo_to_rest(
    batch: JournalBatch, step: RestoreStep, tools: SettleTools
) -> dict[str, tuple[Outcome, str]] | None:
    """Look at each item and bring it to rest; None where data is in danger."""
    name = TableName(LakeId(batch.intent.lake), step.intent.db, step.intent.table)
    items = {item.item: item for item in batch.intent.items}
    table = tools.metastore.table_or_none(name)
    structs = structs_of(tools.metastore, name, table, [one.partition for one in step.intent.items])
    outcomes: dict[str, tuple[Outcome, str]] = {}
    for target in step.intent.items:
        item, struct = items[target.item], structs.get(target.partition)
        live, home = LakePath.parse(target.target), batch.directory.child(target.item)
        is_ours = struct is not None and _mark(struct) == tag_of(batch.intent, item)
        found = files_of(tools.lister([home]).get(home, ()), root=home)
        way = decide_undo(
            is_ours=is_ours,
            has_live=tools.fs.status(live) is not None,
            has_backup=bool(found),
            is_short=bool(shortfall(item.files, found)),
        )
        if way is Way.DANGER:
            return None
        if way is Way.HALF_DONE:
            make_parents(tools.fs, parents_above(item, live, step.intent))
            tools.fs.rename(home, live)
        if way is Way.NEW_DATA:
            _keep_new_data(batch, item, step, tools, struct=struct if is_ours else None)
        outcomes[target.item] = _SAID[way]
    return outcomes


def parents_above(item: ItemIntent, live: LakePath, intent: RestoreIntent) -> tuple[FileFact, ...]:
    """Give the directories above where a restore brought an item, as they were or were made."""
    if not intent.location:
        return item.parents
    return parents_of_target(item, live, below=LakePath.parse(intent.location).parent)


_SAID = {
    Way.NOTHING_HAPPENED: (Outcome.SKIPPED, "nothing happened; still restored"),
    Way.HALF_DONE: (Outcome.RETURNED, "taken back half way; still restored"),
    Way.DONE: (Outcome.UNDONE, "finished by settle"),
    Way.NEW_DATA: (Outcome.UNDONE, "new data came to its place; it stays registered"),
    Way.DROPPED_BY_OTHERS: (Outcome.SKIPPED, "someone else dropped the metadata"),
}


def _keep_new_data(
    batch: JournalBatch, item: ItemIntent, step: RestoreStep, tools: SettleTools, *, struct: Any
) -> None:
    """Let what came to the live place stand registered, without the mark of the backup."""
    intent = step.intent
    name = TableName(LakeId(batch.intent.lake), intent.db, intent.table)
    if struct is not None:
        struct.parameters.pop(RESTORED_FROM)
        if item.partition:
            tools.metastore.alter_partitions(name, [struct])
        else:
            tools.metastore.alter_table_keeping_times(name, struct)
        return
    rename = (intent.db, intent.table, intent.location) if intent.location else None
    targets = {target.item: target.target for target in intent.items}

    def change(fresh: Any, one: ItemIntent) -> Any:
        placed = tagged(fresh, tag="", rename=rename, target=targets[one.item])
        placed.parameters.pop(RESTORED_FROM)
        return without_statistics(placed, one)

    add_again(
        tools.metastore,
        batch.intent,
        [item],
        change=change,
        change_table=lambda made: tagged_table(made, rename=rename),
        keep_statistics=False,
    )


def _mark(struct: Any) -> str | None:
    return (struct.parameters or {}).get(RESTORED_FROM)
