"""Tags a restored object as the portal's own, and registers it under another name.

The mark is what makes a restore safe to repeat and lets a zombie's DROP be told from an owner's. It
is one of the `lakewarden.*` parameters that cannot be equal to before.
"""

from collections.abc import Mapping
from typing import Any

from lifecycle.backup.engine.facts import DDL_TIME
from lifecycle.backup.engine.journal.records import BatchIntent, ItemIntent, Rename
from portal.lake.paths import LakePath

RESTORED_FROM = "lakewarden.restored_from"
CREATED_BEFORE = "lakewarden.generation"
EXTRAS_DUE = "lakewarden.extras_due"


def tag_of(intent: BatchIntent, item: ItemIntent) -> str:
    """Return the mark of one item of one backup."""
    return f"{intent.run}/{intent.epoch}/{item.item}"


def is_ours(struct: Any, intent: BatchIntent, item: ItemIntent) -> bool:
    """Whether what is registered (None = nothing) bears the mark of an item of a backup."""
    if struct is None:
        return False
    return (struct.parameters or {}).get(RESTORED_FROM) == tag_of(intent, item)


def mark_due(struct: Any, intent: BatchIntent, item: ItemIntent) -> Any:
    """Mark what is about to be registered again: what belonged to it follows in calls of its own.

    The mark goes with the last of them, so who finds it after a crash knows what is missing.
    """
    struct.parameters = {**(struct.parameters or {}), EXTRAS_DUE: tag_of(intent, item)}
    return struct


def is_due(struct: Any, intent: BatchIntent, item: ItemIntent) -> bool:
    """Whether what is registered (None = nothing) waits for what belonged to an item."""
    if struct is None:
        return False
    return (struct.parameters or {}).get(EXTRAS_DUE) == tag_of(intent, item)


def without_due(parameters: Mapping[str, str] | None) -> dict[str, str]:
    """Return parameters without the mark of `mark_due`."""
    return {name: value for name, value in (parameters or {}).items() if name != EXTRAS_DUE}


def tagged(struct: Any, *, tag: str, rename: Rename | None, target: str) -> Any:
    """Mark a Thrift Table or Partition as restored, under another name and place if asked."""
    struct.parameters = {**without_due(struct.parameters), RESTORED_FROM: tag}
    is_table = not hasattr(struct, "values")
    if is_table:
        struct.parameters[CREATED_BEFORE] = str(struct.createTime)
    if rename is not None:
        struct.dbName, struct.tableName = rename[0], rename[1]
        _place(struct, target)
    return struct


def untagged(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return parameters without those that a restore cannot bring back equal."""
    ours = (RESTORED_FROM, CREATED_BEFORE, EXTRAS_DUE, DDL_TIME)
    return {name: value for name, value in parameters.items() if name not in ours}


def tagged_table(table: Any, *, rename: Rename | None) -> Any:
    """Mark a table that is rebuilt only because its partitions come back."""
    table.parameters = {**without_due(table.parameters), CREATED_BEFORE: str(table.createTime)}
    if rename is not None:
        table.dbName, table.tableName = rename[0], rename[1]
        _place(table, rename[2])
    return table


def is_same_table(original: Any, live: Any) -> bool:
    """Whether the live table is the one of the backup, or one that we rebuilt from it."""
    return live.createTime == original.createTime or is_rebuilt(original, live)


def is_rebuilt(original: Any, live: Any) -> bool:
    """Whether the live table is one that we rebuilt from the backup, under whatever name.

    Of another name the create time says nothing: two tables may be made in one second.
    """
    before = str(original.createTime)
    mark = (original.parameters or {}).get(CREATED_BEFORE, before)
    return (live.parameters or {}).get(CREATED_BEFORE) in {before, mark}


def _place(struct: Any, location: str) -> None:
    struct.sd.location = str(LakePath.parse(location))
    serde = struct.sd.serdeInfo
    if serde is not None and "path" in (serde.parameters or {}):
        serde.parameters["path"] = struct.sd.location
