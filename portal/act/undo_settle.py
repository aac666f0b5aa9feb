"""What has an undo of a restore left half done? Readers come first: what is not done goes back.

An undo is a drop of what a restore brought, so settle's table tells what each state means: M =
registered with our mark, S = the live place exists, D = the item is in the backup.
"""

from typing import Any

from portal.act.journal import JournalBatch, RestoreStep
from portal.act.records import ItemIntent, Outcome, files_of, shortfall
from portal.act.registry import add_again, structs_of
from portal.act.restore_target import parents_above
from portal.act.settle import SettleTools, Verdict, decide, make_parents, without_statistics
from portal.act.tags import RESTORED_FROM, is_ours, tagged, tagged_table
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
        is_marked = is_ours(struct, batch.intent, item)
        found = files_of(listings.get(home, ()), root=home)
        verdict = decide(
            is_registered=is_marked,
            has_source=tools.fs.status(live) is not None,
            has_target=bool(found),
            is_short=bool(shortfall(item.files, found)),
        )
        if verdict is Verdict.DANGER:
            return None
        if verdict is Verdict.HALF_DONE:
            make_parents(tools.fs, parents_above(item, location))
            tools.fs.rename(home, live)
        if verdict is Verdict.NEW_DATA:
            _keep_new_data(batch, item, step, tools, struct=struct if is_marked else None)
        outcomes[target.item] = _SAID[verdict]
    return outcomes


_SAID = {
    Verdict.NOTHING_HAPPENED: (Outcome.SKIPPED, "nothing happened; still restored"),
    Verdict.HALF_DONE: (Outcome.RETURNED, "taken back half way; still restored"),
    Verdict.DONE: (Outcome.UNDONE, "finished by settle"),
    Verdict.NEW_DATA: (Outcome.UNDONE, "new data came to its place; it stays registered"),
    Verdict.DROPPED_BY_OTHERS: (Outcome.SKIPPED, "someone else dropped the metadata"),
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
    targets = {target.item: target.target for target in intent.items}

    def change(fresh: Any, one: ItemIntent) -> Any:
        placed = tagged(fresh, tag="", rename=intent.rename, target=targets[one.item])
        placed.parameters.pop(RESTORED_FROM)
        return without_statistics(placed, one)

    add_again(
        tools.metastore,
        batch.intent,
        [item],
        change=change,
        change_table=lambda made: tagged_table(made, rename=intent.rename),
        keep_statistics=False,
    )
