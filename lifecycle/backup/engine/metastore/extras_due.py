"""Brings back what belongs to partitions whose program ended right after adding them again.

They bear the mark of their item until their grants and column statistics are back.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.extras import ACCURATE, with_accuracy
from lifecycle.backup.engine.journal.records import BatchIntent, ItemIntent
from lifecycle.backup.engine.metastore.extras_return import return_again
from lifecycle.backup.engine.metastore.registry import structs_of
from lifecycle.backup.engine.metastore.tags import is_due, untagged, without_due
from portal.connectors.metastore import Metastore, from_json
from portal.lake.names import TableName


def return_due(
    metastore: Metastore,
    batch: BatchIntent,
    items: Sequence[ItemIntent],
    *,
    name: TableName,
    newer: Container[str] = (),
) -> dict[str, str]:
    """Bring back what belongs to those of some items that bear their mark.

    `newer` are items with new data, which get no column statistics. Returns by item what did not
    come back.
    """
    table = metastore.table_or_none(name)
    live = structs_of(metastore, name, table, [item.partition for item in items])
    due = [item for item in items if is_due(live.get(item.partition), batch, item)]
    if not due:
        return {}
    same = {
        item.partition: wanted
        for item in due
        if item.item not in newer
        and (wanted := _right_parameters(item, live[item.partition].parameters)) is not None
    }
    return return_again(metastore, name, due, parameters=same)


def _right_parameters(item: ItemIntent, live: Mapping[str, str]) -> dict[str, str] | None:
    """Return parameters that call statistics right; None where others than the intent's stand."""
    made: Any = from_json(ttypes.Partition, item.metadata)
    before = made.parameters or {}
    if untagged(live) != untagged(with_accuracy(before, ())):
        return None
    accurate = {ACCURATE: before[ACCURATE]} if ACCURATE in before else {}
    return without_due(live) | accurate
