"""What does the metastore say about a batch's names, and how is exactly one generation dropped?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.act.facts import generation_of
from portal.act.records import BatchIntent, ItemIntent
from portal.act.tags import RESTORED_FROM
from portal.connectors.metastore import Metastore, from_json
from portal.lake.errors import NotVisible, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName, escape_path_name
from portal.lake.readiness import is_ready

_TRIES = 3


def partition_name(table: Any, partition: Any) -> str:
    """Give Hive's `k=v/k=v` name of a Thrift partition."""
    return "/".join(
        f"{escape_path_name(key.name)}={escape_path_name(value)}"
        for key, value in zip(table.partitionKeys, partition.values, strict=True)
    )


def structs_of(
    metastore: Metastore, name: TableName, table: Any, partitions: Sequence[str]
) -> dict[str, Any]:
    """Give the registered structures by partition name; the table itself stands under ''."""
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
    """Give those of the names that are registered now, whatever their generation."""
    table = metastore.table_or_none(name)
    return frozenset(structs_of(metastore, name, table, partitions)) & frozenset(partitions)


def same_generation(
    metastore: Metastore, name: TableName, intents: Iterable[ItemIntent]
) -> list[ItemIntent]:
    """Give those intents whose create time, location and DDL time are still registered."""
    return [intent for intent, _ in _same_structs(metastore, name, intents)]


def _same_structs(
    metastore: Metastore, name: TableName, intents: Iterable[ItemIntent]
) -> list[tuple[ItemIntent, Any]]:
    intents = list(intents)
    table = metastore.table_or_none(name)
    structs = structs_of(metastore, name, table, [intent.partition for intent in intents])
    return [
        (intent, structs[intent.partition])
        for intent in intents
        if intent.partition in structs
        and generation_of(structs[intent.partition]) == intent.generation
    ]


def drop_exactly(
    metastore: Metastore,
    name: TableName,
    intents: Sequence[ItemIntent],
    *,
    before_send: Callable[[], None] = lambda: None,
) -> list[ItemIntent]:
    """Drop the metadata of these generations, never data; give the intents that may not go.

    Those are the ones that are not the same any more, or not ready by now: the flag may be set
    without a new generation. One call drops all partitions or none. A table that has partition keys
    is never dropped here.
    """
    for _ in range(_TRIES):
        same = [
            intent
            for intent, struct in _same_structs(metastore, name, intents)
            if is_ready(struct.parameters or {})
        ]
        try:
            _drop(metastore, name, same, before_send=before_send)
        except NotVisible:
            # One of the names went away between the look and the call: nothing was dropped.
            continue
        kept = {intent.item for intent in same}
        return [intent for intent in intents if intent.item not in kept]
    raise StaleState("act.busy_table", f"{name} changes too fast; try the run again later.")


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
    `keep_statistics` the metastore counts the files anew.
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
    same: Sequence[ItemIntent],
    *,
    before_send: Callable[[], None],
) -> None:
    if not same:
        return
    before_send()
    if same[0].partition:
        names = [intent.partition for intent in same]
        metastore.drop_partitions(name, names, delete_data=False)
    else:
        metastore.drop_table(name, delete_data=False)
