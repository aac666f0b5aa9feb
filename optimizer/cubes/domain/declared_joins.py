"""Finds the columns of joined tables that a table's cubes declare, such as `part.p_brand1`.

A policy may name such a column for sorting and indexing. The joins are those of the table's cubes:
an alias that two cubes declare differently means nothing, and neither does one that hangs on it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.cubes.domain.definition import FACT, Join, joins_read
from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """A column of a joined table; `path` has the joins that lead to it, in order."""

    text: str
    column: str
    path: tuple[Join, ...]

    @property
    def alias(self) -> str:
        """The alias of the table that has the column."""
        return self.path[-1].alias

    @property
    def table(self) -> str:
        """The table that has the column, as `db.table`."""
        return self.path[-1].table

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the table itself that the path begins with: its foreign key."""
        lefts = (left.partition(".") for join in self.path for left, _ in join.on)
        return tuple(dict.fromkeys(column for alias, _, column in lefts if alias == FACT))


@dataclass(frozen=True, slots=True)
class DeclaredJoins:
    """The joins of a table's cubes by alias; those in `unclear` are declared in several ways."""

    joins: Mapping[str, Join]
    unclear: frozenset[str] = frozenset()

    def path(self, alias: str) -> tuple[Join, ...]:
        """Return the joins that an alias needs, those that it hangs on first.

        Raises:
            RuleViolation: `layout.join`.
        """
        found: dict[str, Join] = {}
        self._collect(alias, found)
        return tuple(found.values())

    def column(self, text: str) -> JoinedColumn:
        """Return the column that `alias.column` means.

        Raises:
            RuleViolation: `layout.join`.
        """
        alias, _, column = text.partition(".")
        return JoinedColumn(text, column, self.path(alias))

    def of(self, columns: Iterable[str]) -> tuple[Join, ...]:
        """Return the joins that the columns need, as far as they are declared; each once."""
        found: dict[str, Join] = {}
        for text in columns:
            try:
                found.update((one.alias, one) for one in self.path(text.partition(".")[0]))
            except RuleViolation:
                continue
        return tuple(found.values())

    def _collect(self, alias: str, found: dict[str, Join]) -> None:
        if alias in found or alias == FACT:
            return
        join = self.joins.get(alias)
        if join is None or alias in self.unclear:
            raise self._refused(alias)
        for left, _ in join.on:
            self._collect(left.partition(".")[0], found)
        found[alias] = join

    def _refused(self, alias: str) -> RuleViolation:
        if alias in self.unclear:
            text = (
                f"two cubes of the table join {alias} in different ways; name a column of another "
                "join, or define one of them again"
            )
        else:
            known = ", ".join(sorted(self.joins.keys() - self.unclear)) or "none"
            text = (
                f"no cube of the table declares a join {alias} (declared: {known}); define a cube "
                "with it, or name a column of the table itself"
            )
        return RuleViolation("layout.join", f"{alias} is no table to take columns of: {text}.")


def declared_joins(definitions: Iterable[Mapping[str, Any]]) -> DeclaredJoins:
    """Return the joins that the definitions of a table's cubes declare (docs/cubes.md)."""
    found: dict[str, Join] = {}
    unclear: set[str] = set()
    for definition in definitions:
        for join in joins_read(definition.get("joins") or ()):
            if _meaning(found.setdefault(join.alias, join)) != _meaning(join):
                unclear.add(join.alias)
    return DeclaredJoins(found, frozenset(unclear))


def is_joined(text: str, own: Collection[str]) -> bool:
    """Whether a name means a column of a joined table: a column of its own comes first."""
    alias, dot, column = text.partition(".")
    return bool(alias and dot and column) and text.lower() not in {one.lower() for one in own}


def _meaning(join: Join) -> tuple[str, tuple[tuple[str, str], ...]]:
    return join.table.lower(), join.on
