"""Describes a stored aggregate as queries are compared with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FACT = "fact"
"""The alias by which expressions of a stored aggregate call the table itself."""


@dataclass(frozen=True)
class ViewJoin:
    """A table joined N:1; each pair is a column on the left and one of the joined table."""

    alias: str
    table: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ViewDimension:
    """What rows are grouped by: Spark SQL over qualified columns."""

    name: str
    expression: str
    type: str


@dataclass(frozen=True)
class ViewMeasure:
    """What is aggregated, and of which functions the states are stored."""

    name: str
    expression: str
    type: str
    functions: frozenset[str]


@dataclass(frozen=True)
class View:
    """A stored aggregate of a table with its declared joins."""

    name: str
    table: str
    joins: tuple[ViewJoin, ...] = ()
    dimensions: tuple[ViewDimension, ...] = ()
    measures: tuple[ViewMeasure, ...] = ()
    time_zone: str = "UTC"
    has_unsure_joins: bool = False
    """Whether rows may have no partner or several: then a query must join just the same."""
    filters: tuple[str, ...] = ()
    """Conditions over qualified columns; only rows for which all of them hold are in it."""

    def dimension(self, name: str) -> ViewDimension:
        """Return a dimension by its name."""
        return next(one for one in self.dimensions if one.name == name)


@dataclass(frozen=True)
class Schema:
    """The columns of the tables that are known: `<db>.<table>` to names and types of Spark."""

    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    """The least and the greatest number of a column, where that is known."""

    def knows(self, table: str) -> bool:
        """Whether the table is known."""
        return table in self.columns

    def type_of(self, table: str, column: str) -> str | None:
        """Return a column's type, None where there is none of the name."""
        return self.columns[table].get(column)
