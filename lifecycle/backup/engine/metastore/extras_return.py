"""Restores grants, column statistics and constraints once the object exists again.

What stands already is left, so it may be done again at any time. What the metastore refuses is no
reason to leave the object out: it is said with the item.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.extras import Extras, with_accuracy
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import ItemIntent, RestoreIntent
from lifecycle.backup.engine.metastore.registry import Added, structs_of
from lifecycle.backup.engine.metastore.tags import (
    EXTRAS_DUE,
    is_ours,
    tag_of,
    tagged,
    tagged_table,
    untagged,
    without_due,
)
from portal.connectors.metastore import Metastore, from_json, to_json
from portal.connectors.metastore_extras import CONSTRAINTS, MetastoreExtras, constraint_name
from portal.lake.errors import ExternalFailure, NotVisible, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName


@dataclass
class _Return:
    """One step under the name that its objects get, and what was refused, by partition."""

    metastore: Metastore
    calls: MetastoreExtras
    name: TableName
    old: TableName
    before_send: Callable[[], None]
    refused: dict[str, list[str]] = field(default_factory=dict)

    def attempt(self, what: str, partitions: Iterable[str], act: Callable[[], None]) -> bool:
        """Do one thing; what the metastore refuses is noted with the partitions it is about."""
        self.before_send()
        try:
            act()
        except (NotVisible, StaleState, ExternalFailure) as error:
            if isinstance(error, ExternalFailure) and error.retryable:
                raise
            for partition in partitions:
                said = f"{what} did not come back: {error.message}"
                self.refused.setdefault(partition, []).append(said)
            return False
        return True


def return_extras(
    metastore: Metastore,
    batch: JournalBatch,
    intent: RestoreIntent,
    *,
    only: frozenset[str] | None = None,
    before_send: Callable[[], None] = lambda: None,
) -> dict[str, str]:
    """Bring back what belongs to the items of a step; gives by item what the metastore refused.

    Only items that stand as ours are touched. One of a backup that recorded nothing gets nothing.
    `before_send` is called before each call that sets statistics, grants or constraints.
    """
    name = TableName(LakeId(batch.intent.lake), intent.db, intent.table)
    old = TableName(LakeId(batch.intent.lake), batch.intent.db, batch.intent.table)
    work = _Return(metastore, MetastoreExtras(metastore), name, old, before_send)
    targets = {one.item: one.target for one in intent.items if only is None or one.item in only}
    items = [item for item in batch.intent.items if item.item in targets]
    table = metastore.table_or_none(name)
    live = structs_of(metastore, name, table, [item.partition for item in items])
    items = [item for item in items if is_ours(live.get(item.partition), batch.intent, item)]
    if not items:
        return {}
    if items[0].partition:
        _partitions(work, items, live, targets, batch=batch, intent=intent)
        if intent.makes_table:
            _made_table(work, table, batch, intent, partition=items[0].partition)
    else:
        _table(work, items[0], live[""], targets, batch=batch, intent=intent)
    return {item.item: "; ".join(work.refused.get(item.partition, ())) for item in items}


def return_again(
    metastore: Metastore,
    name: TableName,
    items: Sequence[ItemIntent],
    *,
    parameters: Mapping[str, Mapping[str, str]],
    table_extras: Extras | None = None,
) -> dict[str, str]:
    """Bring back what belonged to items that were registered again; what stands is left.

    `parameters` are those of the partitions whose data is the same: they get their column
    statistics back, and then these parameters, which call them right. `table_extras` belong to a
    table that was made again for its partitions. The marks of `mark_due` go last. Returns by item
    what did not come back.
    """
    work = _Return(metastore, MetastoreExtras(metastore), name, name, lambda: None)
    table = metastore.table_or_none(name)
    live = structs_of(metastore, name, table, [item.partition for item in items])
    known = [
        (item.partition, item.extras)
        for item in items
        if item.partition in live and item.extras is not None
    ]
    if not known:
        return {}
    if table_extras is not None:
        _belongings(work, table_extras)
        if said := work.refused.pop("", None):
            work.refused[known[0][0]] = [f"of the table: {one}" for one in said]
    if not known[0][0]:
        _belongings(work, known[0][1])
    elif any(extras.grants for _, extras in known):
        values = [list(live[partition].values) for partition, _ in known]
        _grants(work, known, current=work.calls.partition_grants(name, values))
    same = [one for one in known if one[0] in parameters]
    if _statistics(work, same):
        _call_right(work, {partition: parameters[partition] for partition, _ in same}, live)
    for partition, extras in known:
        if extras.statistics and partition not in parameters:
            work.refused.setdefault(partition, []).append(_NEWER)
    done = {partition: live[partition] for partition, _ in known}
    _take_marks_away(work, done if table_extras is None else {"": table, **done})
    return {item.item: "; ".join(work.refused.get(item.partition, ())) for item in items}


_NEWER = "its column statistics did not come back: its data or metadata is newer"


def _take_marks_away(work: _Return, live: Mapping[str, Any]) -> None:
    """Say of objects, by partition, that all that belonged to them is back.

    They are read again, so that what somebody changed meanwhile stands.
    """
    waiting = [name for name, one in live.items() if EXTRAS_DUE in (one.parameters or {})]
    with suppress(NotVisible):  # what was dropped meanwhile needs no mark
        if parts := [name for name in waiting if name]:
            structs = work.metastore.partitions_by_names(work.name, parts)
            for one in structs:
                one.parameters = without_due(one.parameters)
            work.metastore.alter_partitions(work.name, structs)
        if "" in waiting:
            table = work.metastore.table(work.name)
            table.parameters = without_due(table.parameters)
            work.metastore.alter_table_keeping_times(work.name, table)


def _call_right(
    work: _Return, parameters: Mapping[str, Mapping[str, str]], live: Mapping[str, Any]
) -> None:
    """Give items whose statistics are back the parameters that call them right."""
    for partition, wanted in parameters.items():
        live[partition].parameters = dict(wanted)
    if "" in parameters:
        work.metastore.alter_table_keeping_times(work.name, live[""])
    else:
        work.metastore.alter_partitions(work.name, [live[one] for one in parameters])


def return_to_added(
    metastore: Metastore, name: TableName, added: Sequence[Added]
) -> dict[str, str]:
    """Bring back what belonged to partitions that a drop had to add again.

    Where all parameters but our own are those of the intent, its column statistics are the
    partition's. Returns by item what did not come back.
    """
    return return_again(
        metastore,
        name,
        [one.intent for one in added],
        parameters={one.intent.partition: one.parameters for one in added if _is_unchanged(one)},
    )


def with_loss(reason: str, said: Mapping[str, str], item: ItemIntent) -> str:
    """Add to the reason of an item what did not come back with it."""
    return f"{reason}; {said[item.item]}" if said.get(item.item) else reason


def _is_unchanged(one: Added) -> bool:
    made: Any = from_json(ttypes.Partition, one.intent.metadata)
    return untagged(one.parameters) == untagged(made.parameters or {})


def _belongings(work: _Return, extras: Extras) -> None:
    """Bring back the grants and constraints of a table."""
    _grants(work, [("", extras)], current=work.calls.grants(work.name, _granted_columns(extras)))
    _constraints(work, extras, partition="")


def _table(
    work: _Return,
    item: ItemIntent,
    live: Any,
    targets: dict[str, str],
    *,
    batch: JournalBatch,
    intent: RestoreIntent,
) -> None:
    extras = item.extras or Extras()
    right = _statistics(work, [("", extras)])
    made = tagged(
        from_json(ttypes.Table, item.metadata),
        tag=tag_of(batch.intent, item),
        rename=intent.rename,
        target=targets[item.item],
    )
    _exact_table(work, made, columns=extras.columns if right else ())
    _belongings(work, extras)


def _made_table(
    work: _Return, table: Any, batch: JournalBatch, intent: RestoreIntent, *, partition: str
) -> None:
    """Bring back what belonged to a table that was made for its partitions."""
    extras = batch.intent.table_extras or Extras()
    right = _statistics(work, [("", extras)])
    made = tagged_table(from_json(ttypes.Table, batch.intent.table_metadata), rename=intent.rename)
    _exact_table(work, made, columns=extras.columns if right else ())
    _belongings(work, extras)
    if said := work.refused.pop("", None):
        work.refused.setdefault(partition, []).extend(f"of the table: {one}" for one in said)


def _exact_table(work: _Return, made: Any, *, columns: Iterable[str]) -> None:
    """Give a table the parameters that it had: the metastore adds counts of its own to some."""
    live = work.metastore.table(work.name)
    wanted = with_accuracy(made.parameters, columns)
    if live.parameters != wanted:
        live.parameters = wanted
        work.metastore.alter_table_keeping_times(work.name, live)


def _partitions(
    work: _Return,
    items: Sequence[ItemIntent],
    live: dict[str, Any],
    targets: dict[str, str],
    *,
    batch: JournalBatch,
    intent: RestoreIntent,
) -> None:
    known = [(item.partition, item.extras) for item in items if item.extras is not None]
    right = _statistics(work, known)
    changed = []
    for item in items:
        struct = live[item.partition]
        made = tagged(
            from_json(ttypes.Partition, item.metadata),
            tag=tag_of(batch.intent, item),
            rename=intent.rename,
            target=targets[item.item],
        )
        columns = item.extras.columns if right and item.extras else ()
        wanted = with_accuracy(made.parameters, columns)
        if struct.parameters != wanted or (right and columns):
            struct.parameters = wanted
            changed.append(struct)
    if changed:
        work.metastore.alter_partitions(work.name, changed)
    if any(extras.grants for _, extras in known):
        values = [list(live[partition].values) for partition, _ in known]
        _grants(work, known, current=work.calls.partition_grants(work.name, values))


def _statistics(work: _Return, known: Sequence[tuple[str, Extras]]) -> bool:
    """Set all column statistics in one call; returns whether they are back."""
    found = []
    for _, extras in known:
        if extras.statistics:
            one: Any = from_json(ttypes.ColumnStatistics, extras.statistics)
            one.statsDesc.dbName, one.statsDesc.tableName = work.name.db, work.name.table
            found.append(one)
    if not found:
        return False
    names = [partition for partition, extras in known if extras.statistics]
    return work.attempt("its column statistics", names, lambda: work.calls.set_statistics(found))


def _grants(work: _Return, known: Sequence[tuple[str, Extras]], *, current: Iterable[Any]) -> None:
    """Grant what is not granted: all of a step in one call, or each alone where that is refused."""
    there = {grant_key(grant, work.name) for grant in current}
    missing = [
        (partition, grant)
        for partition, extras in known
        for grant in map(_grant, extras.grants)
        if grant_key(grant, work.name) not in there
    ]
    for _, grant in missing:
        grant.hiveObject.dbName, grant.hiveObject.objectName = work.name.db, work.name.table
    if not missing:
        return
    work.before_send()
    try:
        work.calls.grant([grant for _, grant in missing])
    except ExternalFailure as error:
        if error.retryable:
            raise
        for partition, grant in missing:
            said = f"the grant of {grant.grantInfo.privilege} to {grant.principalName}"
            work.attempt(said, [partition], _granting(work, grant))


def _granting(work: _Return, grant: Any) -> Callable[[], None]:
    return lambda: work.calls.grant([grant])


def _constraints(work: _Return, extras: Extras, *, partition: str) -> None:
    """Add the constraints that are not there; other tables' keys name the old table only."""
    there = {constraint_key(kind, one) for kind, one in work.calls.constraints(work.name)}
    missing: dict[tuple[str, str], list[Any]] = {}
    for kind, text in extras.constraints:
        one = renamed_constraint(
            kind, from_json(CONSTRAINTS[kind], text), old=work.old, new=work.name
        )
        if constraint_key(kind, one) not in there and not (
            kind == "referenced_by" and work.name != work.old
        ):
            missing.setdefault((kind, constraint_name(kind, one)), []).append(one)
    for (kind, called), structs in missing.items():
        work.attempt(f"its constraint {called}", [partition], _adding(work, kind, structs))


def _adding(work: _Return, kind: str, structs: Sequence[Any]) -> Callable[[], None]:
    return lambda: work.calls.add_constraint(kind, structs)


def grant_key(grant: Any, name: TableName) -> str:
    """Return what makes two grants the same, as grants on `name`: all but when it was given."""
    one = _grant(to_json(grant))
    one.grantInfo.createTime = 0
    one.hiveObject.dbName, one.hiveObject.objectName = name.db, name.table
    return to_json(one)


def constraint_key(kind: str, struct: Any) -> str:
    """Return what makes two constraints the same."""
    return f"{kind} {to_json(struct)}"


def renamed_constraint(kind: str, struct: Any, *, old: TableName, new: TableName) -> Any:
    """Let a constraint stand on the new name of its table."""
    pairs = {
        "foreign_key": [("fktable_db", "fktable_name"), ("pktable_db", "pktable_name")],
        "referenced_by": [("pktable_db", "pktable_name"), ("fktable_db", "fktable_name")],
    }.get(kind, [("table_db", "table_name")])
    for db, table in pairs:
        if (getattr(struct, db), getattr(struct, table)) == (old.db, old.table):
            setattr(struct, db, new.db)
            setattr(struct, table, new.table)
    return struct


def _grant(text: str) -> Any:
    return from_json(ttypes.HiveObjectPrivilege, text)


def _granted_columns(extras: Extras) -> list[str]:
    columns = (_grant(text).hiveObject.columnName for text in extras.grants)
    return sorted({column for column in columns if column})
