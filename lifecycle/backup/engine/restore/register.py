"""Registers what a restore moved, and reports the result. Shared by driver and settle."""

from collections.abc import Mapping
from typing import Any

from lifecycle.backup.engine.extras import with_accuracy
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    ItemDone,
    ItemIntent,
    Outcome,
    RestoreIntent,
)
from lifecycle.backup.engine.metastore.registry import add_again, is_same_life, structs_of
from lifecycle.backup.engine.metastore.tags import is_ours, tag_of, tagged, tagged_table
from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName


def register(
    metastore: Metastore,
    batch: JournalBatch,
    intent: RestoreIntent,
    *,
    only: frozenset[str] | None = None,
) -> None:
    """(g) Register the moved items; names taken stay as they are.

    Their numbers are left alone, but no column's statistics are called right before they are back.
    """
    targets = {
        target.item: target.target for target in intent.items if only is None or target.item in only
    }
    items = [item for item in batch.intent.items if item.item in targets]

    def change(struct: Any, item: ItemIntent) -> Any:
        tag = tag_of(batch.intent, item)
        made = tagged(struct, tag=tag, rename=intent.rename, target=targets[item.item])
        made.parameters = with_accuracy(made.parameters, ())
        return made

    def change_table(table: Any) -> Any:
        made = tagged_table(table, rename=intent.rename)
        made.parameters = with_accuracy(made.parameters, ())
        return made

    add_again(
        metastore,
        batch.intent,
        items,
        change=change,
        change_table=change_table,
    )


def confirm(
    metastore: Metastore, batch: JournalBatch, intent: RestoreIntent, *, said: Mapping[str, str]
) -> dict[str, tuple[Outcome, str]]:
    """(h) Look which items are registered as ours, or were never dropped and have their data.

    `said` is what did not come back with them.
    """
    ours = registered_as_ours(metastore, batch, intent)
    ours |= _never_dropped(metastore, batch, intent)
    return {
        target.item: (Outcome.RESTORED, said.get(target.item, ""))
        if target.item in ours
        else (Outcome.CONFLICT, "the name was taken meanwhile; the data is at its place")
        for target in intent.items
    }


def registered_as_ours(
    metastore: Metastore, batch: JournalBatch, intent: RestoreIntent
) -> frozenset[str]:
    """Return the items that stand registered with the mark of this backup."""
    live = _registered(metastore, batch, intent)
    by_item = {item.item: item for item in batch.intent.items}
    return frozenset(
        target.item
        for target in intent.items
        if is_ours(live.get(target.partition), batch.intent, by_item[target.item])
    )


def _never_dropped(
    metastore: Metastore, batch: JournalBatch, intent: RestoreIntent
) -> frozenset[str]:
    """Return the items whose name still belongs to the object that was to be dropped."""
    if intent.rename is not None:
        return frozenset()
    live = _registered(metastore, batch, intent)
    wanted = {target.item for target in intent.items}
    return frozenset(
        item.item
        for item in batch.intent.items
        if item.item in wanted
        and item.partition in live
        and is_same_life(live[item.partition], item)
    )


def _registered(metastore: Metastore, batch: JournalBatch, intent: RestoreIntent) -> dict[str, Any]:
    name = TableName(LakeId(batch.intent.lake), intent.db, intent.table)
    table = metastore.table_or_none(name)
    return structs_of(metastore, name, table, [target.partition for target in intent.items])


def restore_done(
    intent: RestoreIntent,
    batch: JournalBatch,
    outcomes: dict[str, tuple[Outcome, str]],
    *,
    at: str,
    writer: str,
) -> BatchDone:
    """Build the word on what became of a restore step."""
    return BatchDone(
        run=batch.intent.run,
        epoch=batch.intent.epoch,
        batch=batch.intent.batch,
        at=at,
        writer=writer,
        items=tuple(
            ItemDone(target.item, target.partition, *outcomes[target.item])
            for target in intent.items
        ),
        target={"db": intent.db, "table": intent.table, "restore": intent.restore},
    )
