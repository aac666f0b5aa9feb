"""Compares a batch's names with the metastore, and drops or adds exactly what is meant.

A generation is one life of a name between two changes of its metadata; a life ends with a drop.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.extras import with_accuracy
from lifecycle.backup.engine.facts import generation_of
from lifecycle.backup.engine.journal.records import BatchIntent, ItemIntent
from lifecycle.backup.engine.metastore.tags import RESTORED_FROM, mark_due, without_due
from portal.connectors.metastore import Metastore, from_json
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName, escape_path_name
from portal.lake.paths import LakePath
from portal.lake.readiness import is_ready

_TRIES = 3


class NameState(StrEnum):
    """What is registered under an item's name, compared with the generation of its intent."""

    SAME = "SAME"
    CHANGED = "CHANGED"
    """Another generation, whose data is expected at the item's own place."""
    FREE = "FREE"
    """Nothing, or something whose data is elsewhere."""


@dataclass(frozen=True, slots=True)
class Added:
    """A partition that was dropped with others and added again, with the parameters it had."""

    intent: ItemIntent
    struct: Any
    parameters: dict[str, str]


OnAdded = Callable[[Sequence[Added]], None]


def partition_name(table: Any, partition: Any) -> str:
    """Return Hive's `k=v/k=v` name of a Thrift partition."""
    return "/".join(
        f"{escape_path_name(key.name)}={escape_path_name(value)}"
        for key, value in zip(table.partitionKeys, partition.values, strict=True)
    )


def structs_of(
    metastore: Metastore, name: TableName, table: Any, partitions: Sequence[str]
) -> dict[str, Any]:
    """Return the registered structures by partition name; the table itself stands under ''."""
    if table is None:
        return {}
    if not table.partitionKeys:
        return {"": table}
    wanted = [partition for partition in partitions if partition]
    if not wanted:
        return {"": table}
    try:
        found = metastore.partitions_by_names(name, wanted)
    except NotVisible:
        return {}
    return {partition_name(table, partition): partition for partition in found}


def names_registered(
    metastore: Metastore, name: TableName, partitions: Sequence[str]
) -> frozenset[str]:
    """Return those of the names that are registered now, whatever their generation."""
    table = metastore.table_or_none(name)
    return frozenset(structs_of(metastore, name, table, partitions)) & frozenset(partitions)


def name_states(
    metastore: Metastore, name: TableName, intents: Sequence[ItemIntent]
) -> dict[str, NameState]:
    """Return by item what is registered under its name now."""
    table = metastore.table_or_none(name)
    structs = structs_of(metastore, name, table, [intent.partition for intent in intents])
    return {intent.item: _state(intent, table, structs.get(intent.partition)) for intent in intents}


def _state(intent: ItemIntent, table: Any, struct: Any) -> NameState:
    if struct is None or not reads_from(struct, LakePath.parse(intent.source)):
        return NameState.FREE
    return NameState.SAME if _is_same(intent, table, struct) else NameState.CHANGED


def _is_same(intent: ItemIntent, table: Any, struct: Any) -> bool:
    """Whether a structure is the intent's generation; a table with partition keys is no item."""
    is_kind = bool(table.partitionKeys) == bool(intent.partition)
    return is_kind and generation_of(struct) == intent.generation


def reads_from(struct: Any, place: LakePath) -> bool:
    """Whether the data of a Thrift Table or Partition is expected at or under a place.

    Schemes and authorities are not compared, and a location that cannot be read counts: who asks
    leaves the data alone, or gives it back.
    """
    generation = generation_of(struct)
    texts = (generation.location, generation.data_path)
    return any(_may_lie_at(text, place) for text in texts if text)


def is_same_life(struct: Any, intent: ItemIntent) -> bool:
    """Whether a structure, changed or not, is still the object that an intent names."""
    is_created_then = int(struct.createTime) == intent.generation.create_time
    return is_created_then and reads_from(struct, LakePath.parse(intent.source))


def _may_lie_at(text: str, place: LakePath) -> bool:
    try:
        path = LakePath.parse(text)
    except RuleViolation:
        return True
    return LakePath(place.scheme, place.authority, path.path).is_at_or_under(place)


def drop_exactly(
    metastore: Metastore,
    name: TableName,
    intents: Sequence[ItemIntent],
    *,
    batch: BatchIntent,
    before_send: Callable[[], None] = lambda: None,
    on_added: OnAdded,
) -> list[ItemIntent]:
    """Drop the metadata of these generations, never data; give the intents that may not go.

    Those are the ones that are not the same any more, or not ready by now: the flag may be set
    without a new generation. One call drops all partitions or none, and gives what it dropped: what
    was changed since the look is added again, and told to `on_added`: the metastore dropped what
    belonged to it, and until that is back it bears the mark of its item in `batch`. A table that
    has partition keys is never dropped.
    """
    for _ in range(_TRIES):
        table = metastore.table_or_none(name)
        structs = structs_of(metastore, name, table, [intent.partition for intent in intents])
        same = [
            intent for intent in intents if _may_go(intent, table, structs.get(intent.partition))
        ]
        try:
            if same:
                before_send()
            added = _drop(metastore, name, table, same, batch=batch, on_added=on_added)
        except NotVisible:
            # One of the names went away between the look and the call: nothing was dropped.
            continue
        dropped = {intent.item for intent in same} - added
        return [intent for intent in intents if intent.item not in dropped]
    raise StaleState("act.busy_table", f"{name} changes too fast; try the run again later.")


def _may_go(intent: ItemIntent, table: Any, struct: Any) -> bool:
    return (
        struct is not None and _is_same(intent, table, struct) and is_ready(struct.parameters or {})
    )


def add_again(
    metastore: Metastore,
    intent: BatchIntent,
    items: Sequence[ItemIntent],
    *,
    change: Callable[[Any, ItemIntent], Any],
    change_table: Callable[[Any], Any] = lambda table: table,
    keep_statistics: bool = True,
) -> int:
    """Register items from their manifest, each changed by `change`; the table first if it is gone.

    Gives how many were registered. A name taken meanwhile is left as it is. Without
    `keep_statistics` the metastore counts the files again.
    """
    if not items:
        return 0
    if not items[0].partition:
        return _create(metastore, change(from_json(ttypes.Table, items[0].metadata), items[0]))
    table = change_table(from_json(ttypes.Table, intent.table_metadata))
    name = TableName(LakeId(intent.lake), table.dbName, table.tableName)
    if metastore.table_or_none(name) is None:
        _create(metastore, table)
    structs = {
        item.partition: change(from_json(ttypes.Partition, item.metadata), item) for item in items
    }
    added = metastore.add_partitions(list(structs.values()), if_not_exists=True)
    if keep_statistics:
        _keep_parameters(metastore, name, structs, added)
    return len(added)


def _keep_parameters(
    metastore: Metastore, name: TableName, wanted: Mapping[str, Any], added: Iterable[Any]
) -> None:
    """Give partitions that we added, now or before a crash, exactly the parameters of `wanted`.

    Partitions are added without an environment context, so the metastore may put statistics of its
    own into them; a parameter that forbids this would stay with the partition for good.
    """
    is_new = {tuple(struct.values) for struct in added}
    by_values = {tuple(struct.values): struct.parameters or {} for struct in wanted.values()}
    changed = []
    for live in metastore.partitions_by_names(name, list(wanted)):
        parameters = by_values[tuple(live.values)]
        mark = parameters.get(RESTORED_FROM)
        is_ours = mark is not None and live.parameters.get(RESTORED_FROM) == mark
        if (is_ours or tuple(live.values) in is_new) and live.parameters != parameters:
            live.parameters = parameters
            changed.append(live)
    if changed:
        metastore.alter_partitions(name, changed)


def _create(metastore: Metastore, table: Any) -> int:
    try:
        metastore.create_table(table)
    except StaleState as error:
        if error.code != "metastore.exists":
            raise
        return 0
    return 1


def _drop(
    metastore: Metastore,
    name: TableName,
    table: Any,
    same: Sequence[ItemIntent],
    *,
    batch: BatchIntent,
    on_added: OnAdded,
) -> frozenset[str]:
    """Drop, and give the items that were changed since the look and are registered again."""
    if not same:
        return frozenset()
    if not same[0].partition:
        metastore.drop_table(name, delete_data=False)
        return frozenset()
    names = [intent.partition for intent in same]
    dropped = {
        tuple(struct.values): struct
        for struct in metastore.drop_partitions(name, names, delete_data=False)
    }
    changed = []
    for intent in same:
        values = PartitionName.parse(intent.partition).metastore_values
        struct = dropped.get(tuple(values))
        if struct is not None and not _may_go(intent, table, struct):
            changed.append(Added(intent, struct, without_due(struct.parameters)))
    if changed:
        for one in changed:
            one.struct.parameters = with_accuracy(one.parameters, ())
            if one.intent.extras is not None and one.intent.extras.is_any:
                mark_due(one.struct, batch, one.intent)
        structs = {one.intent.partition: one.struct for one in changed}
        added = metastore.add_partitions(list(structs.values()), if_not_exists=True)
        _keep_parameters(metastore, name, structs, added)
        on_added(changed)
    return frozenset(one.intent.item for one in changed)
