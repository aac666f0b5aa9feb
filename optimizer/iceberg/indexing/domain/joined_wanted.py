"""Finds which of a table's own columns are indexed for a column of a joined table.

A filter on `part.p_brand1` reaches the table as values of its foreign key, so it is the foreign
key that is indexed: every column of it.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from optimizer.cubes.domain.declared_joins import DeclaredJoins, JoinedColumn, is_joined
from optimizer.iceberg.indexing.domain.wanted import AUTO, WantedIndex
from optimizer.indexes.domain.envelope import Kind
from portal.lake.errors import RuleViolation

_OF_KEYS = (AUTO, Kind.BLOOM, Kind.BITMAP, Kind.BLOOMRF)


def on_own_columns(
    wanted: Iterable[WantedIndex], joins: DeclaredJoins, own: Collection[str]
) -> tuple[WantedIndex, ...]:
    """Return the same indexes with foreign keys in place of joined columns, each once.

    What no cube declares any more stays as it is written, so that the index job says so.
    """
    found: dict[tuple[str, str], WantedIndex] = {}
    plain = [one for one in wanted if not is_joined(one.column, own)]
    for one in plain:
        found[one.column, one.kind] = one
    for one in wanted:
        if one in plain:
            continue
        try:
            keys = joins.column(one.column).keys
        except RuleViolation:
            keys = (one.column,)
        for key in keys:
            # What the policy says of the key itself comes first.
            found.setdefault((key, one.kind), replace(one, column=key))
    return tuple(found.values())


def check_kind(one: WantedIndex, column: JoinedColumn) -> None:
    """Refuse an index that a foreign key cannot have.

    Raises:
        RuleViolation: `index.kind`.
    """
    if one.kind not in _OF_KEYS:
        raise RuleViolation(
            "index.kind",
            f"'{one}': an index of {one.column} is one of the foreign key "
            f"{', '.join(column.keys)}, which is looked up by its values. Its kinds are "
            f"{', '.join(_OF_KEYS)}.",
        )
