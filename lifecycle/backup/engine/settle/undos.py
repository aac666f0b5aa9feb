"""Brings to rest what an undo of a restore left half done; what is not done goes back to readers.

An undo is a drop of what a restore brought, so settle's table tells what each state means: M =
registered with our mark, S = the live place holds data, D = the item is in the backup.
"""

from typing import Any

from lifecycle.backup.engine.files.live_place import is_taken
from lifecycle.backup.engine.journal.reading import JournalBatch, RestoreStep
from lifecycle.backup.engine.journal.records import ItemIntent, Outcome, files_of, shortfall
from lifecycle.backup.engine.metastore.extras_due import return_due
from lifecycle.backup.engine.metastore.extras_return import with_loss
from lifecycle.backup.engine.metastore.registry import NameState, reads_from, structs_of
from lifecycle.backup.engine.metastore.tags import RESTORED_FROM, is_due, is_ours
from lifecycle.backup.engine.restore.target import parents_above
from lifecycle.backup.engine.settle.batches import (
    SettleTools,
    Verdict,
    decide,
    give_back,
    make_parents,
)
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


def undo_to_rest(
    batch: JournalBatch, step: RestoreStep, tools: SettleTools
) -> dict[str, tuple[Outcome, str]] | None:
    """Look at each item and bring it to rest; None where data is in danger."""
    name = TableName(LakeId(batch.intent.lake), step.intent.db, step.intent.table)
    items = {item.item: item for item in batch.intent.items}
    location = LakePath.parse(step.intent.location) if step.intent.location else None
    table = tools.metastore.table_or_none(name)
    structs = structs_of(tools.metastore, name, table, [one.partition for one in step.intent.items])
    homes = {one.item: batch.directory.child(one.item) for one in step.intent.items}
    listings = tools.lister(list(homes.values()))
    outcomes: dict[str, tuple[Outcome, str]] = {}
    for target in step.intent.items:
        item, struct = items[target.item], structs.get(target.partition)
        live, home = LakePath.parse(target.target), homes[target.item]
        found = files_of(listings.get(home, ()), root=home)
        state = _state(batch, item, struct, live=live)
        verdict = decide(
            state,
            has_source=is_taken(tools.fs, tools.lister, live, has_backup=bool(found)),
            has_target=bool(found),
            is_short=bool(shortfall(item.files, found)),
        )
        if verdict is Verdict.DANGER:
            return None
        if verdict in (Verdict.HALF_DONE, Verdict.CHANGED):
            make_parents(tools.fs, parents_above(item, location))
            give_back(tools, home, live)
        if verdict is Verdict.NEW_DATA and state is NameState.SAME:
            _take_mark_away(name, item, struct, tools)
        outcomes[target.item] = _SAID[verdict]
        if verdict is Verdict.NEW_DATA and state is NameState.FREE:
            outcomes[target.item] = (Outcome.UNDONE, f"new data came to {live}; {_UNNAMED}")
        newer = {item.item} if verdict is Verdict.NEW_DATA else frozenset()
        if is_due(struct, batch.intent, item):
            said = return_due(tools.metastore, batch.intent, [item], name=name, newer=newer)
            outcome, reason = outcomes[target.item]
            outcomes[target.item] = outcome, with_loss(reason, said, item)
    return outcomes


def _state(batch: JournalBatch, item: ItemIntent, struct: Any, *, live: LakePath) -> NameState:
    if is_ours(struct, batch.intent, item):
        return NameState.SAME
    is_here = struct is not None and reads_from(struct, live)
    return NameState.CHANGED if is_here else NameState.FREE


_UNNAMED = "it is not registered: register it by hand if it is wanted"
_SAID = {
    Verdict.NOTHING_HAPPENED: (Outcome.SKIPPED, "nothing happened; still restored"),
    Verdict.HALF_DONE: (Outcome.RETURNED, "half undone; still restored"),
    Verdict.CHANGED: (Outcome.RETURNED, "its metadata was changed meanwhile; still restored"),
    Verdict.DONE: (Outcome.UNDONE, "finished by settle"),
    Verdict.NEW_DATA: (Outcome.UNDONE, "new data came to its place; it stays registered"),
    Verdict.DROPPED_BY_OTHERS: (Outcome.SKIPPED, "someone else dropped the metadata"),
}


def _take_mark_away(name: TableName, item: ItemIntent, struct: Any, tools: SettleTools) -> None:
    """Let what came to the live place be registered without the mark of the backup."""
    struct.parameters.pop(RESTORED_FROM)
    if item.partition:
        tools.metastore.alter_partitions(name, [struct])
    else:
        tools.metastore.alter_table_keeping_times(name, struct)
