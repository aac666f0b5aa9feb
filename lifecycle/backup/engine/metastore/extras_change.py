"""Detects changes since the restore in what belongs to a restored object.

An undo drops the object again with all that belongs to it, and its backup knows only what it held
before. A grant given or taken since, another statistic, another constraint: a person did that, and
it would be lost or come back with the next restore.
"""

from collections.abc import Iterable
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.extras import Extras
from lifecycle.backup.engine.metastore.extras_return import (
    constraint_key,
    grant_key,
    renamed_constraint,
)
from portal.connectors.metastore import from_json, to_json
from portal.connectors.metastore_extras import CONSTRAINTS
from portal.lake.names import TableName

CHANGED = "its grants, column statistics or constraints were changed since the restore"

Keys = frozenset[str]


def extras_change(
    recorded: Extras | None, live: Extras, *, name: TableName, old: TableName, came_whole: bool
) -> str:
    """Say that what stands under `name` is another than was recorded under `old`; '' = the same.

    Where not all came back (`came_whole`), or nothing was recorded, only what is new is a change.
    """
    before = _keys(recorded or Extras(), name=name, old=old)
    now = _keys(live, name=name, old=name)
    is_less = bool(before - now) and came_whole and recorded is not None
    return CHANGED if now - before or is_less else ""


def _keys(extras: Extras, *, name: TableName, old: TableName) -> Keys:
    return frozenset(
        (
            *(grant_key(_grant(text), name) for text in extras.grants),
            *_statistics(extras.statistics),
            *_constraints(extras.constraints, name=name, old=old),
        )
    )


def _grant(text: str) -> Any:
    return from_json(ttypes.HiveObjectPrivilege, text)


def _statistics(text: str) -> Iterable[str]:
    if not text:
        return ()
    found: Any = from_json(ttypes.ColumnStatistics, text)
    return (f"statistics {to_json(one)}" for one in found.statsObj)


def _constraints(
    found: Iterable[tuple[str, str]], *, name: TableName, old: TableName
) -> Iterable[str]:
    for kind, text in found:
        # A key of another table names the old table, so a restore elsewhere does not add it.
        if kind != "referenced_by" or name == old:
            one = from_json(CONSTRAINTS[kind], text)
            yield constraint_key(kind, renamed_constraint(kind, one, old=old, new=name))
