"""Describes a materialization as who rewrites queries compares it with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import sqlglot
from sqlglot import exp

from pipelines.materialized.domain.definition import DIALECT, Definition
from pipelines.materialized.domain.kept_columns import OWN, ROWS, state
from pipelines.materialized.domain.messages import Types
from portal.lake.aggregates import StoredDimension, StoredJoin, StoredMeasure
from portal.lake.names import quoted

FACT = "fact"
"""The alias of the table of facts in expressions of stored aggregates."""
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_MOST_DIGITS, _MORE_DIGITS = 38, 10
_STATES = {
    "count": ("count", "avg", "sum", "min", "max", "count_distinct"),
    "sum": ("sum", "avg"),
    "min": ("min",),
    "max": ("max",),
    "distinct_count": ("count_distinct",),
}
"""The functions that an argument has states of, by the aggregates that need them."""
_COLUMNS = {"count": "count", "min": "low", "max": "high", "distinct_count": "distinct"}


class Unanswering(Exception):
    """Says why no query is answered from a materialization."""


@dataclass(frozen=True)
class Answering:
    """What queries are compared with; expressions are over `fact` and the joined aliases."""

    joins: tuple[StoredJoin, ...]
    dimensions: tuple[StoredDimension, ...]
    measures: tuple[StoredMeasure, ...]
    filters: tuple[str, ...]


def answering(definition: Definition, types: Types) -> Answering:
    """Describe a definition, whose types are those of its last refresh.

    Raises:
        Unanswering: its joins or its columns are not written as queries are compared.
    """
    names = _Names(definition)
    if any(one.name == "rows" for one in definition.keys):
        raise Unanswering("a dimension is called rows; give it another name")
    return Answering(
        tuple(names.join(n) for n in range(len(definition.joins))),
        tuple(
            StoredDimension(one.name, names.qualified(one.sql), kind, one.name)
            for one, kind in zip(definition.keys, types.keys, strict=True)
        ),
        tuple(
            # No dimension is called so: what is kept of both lies side by side.
            StoredMeasure(f"{OWN}m{n}", names.qualified(sql), kind, _states(definition, n, kind))
            for n, (sql, kind) in enumerate(zip(definition.arguments, types.arguments, strict=True))
        ),
        tuple(names.qualified(one) for one in _conjuncts(definition.where)),
    )


def described(
    definition: Definition, types: Types, columns: Mapping[str, Mapping[str, str]], time_zone: str
) -> dict[str, Any]:
    """Return what a commit says of its rows to readers that have no portal to ask.

    `columns` are the types that columns of the sources had, by table.

    Raises:
        Unanswering: its joins or its columns are not written as queries are compared.
    """
    said = answering(definition, types)
    aliases = {FACT: definition.fact.name} | {one.alias: one.table for one in said.joins}
    found: dict[str, Any] = msgspec.to_builtins(said)
    return found | {
        "version": 1,
        "fact": definition.fact.name,
        "rows_column": ROWS,
        "time_zone": time_zone,
        "columns": {
            f"{alias}.{name.lower()}": kind
            for alias, table in aliases.items()
            for name, kind in columns[table].items()
            if name.lower() in definition.columns
        },
    }


class _Names:
    """Gives every column the alias by which stored aggregates call its table."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.aliases = {definition.fact.alias: FACT}
        for one in definition.joins:
            self.aliases[one.table.alias] = one.table.alias
        if len(set(self.aliases.values())) < len(self.aliases):
            raise Unanswering(f"a joined table is called {FACT}; give it another alias")

    def qualified(self, sql: str) -> str:
        tree = sqlglot.parse_one(sql, dialect=DIALECT)
        return tree.transform(self._placed).sql(dialect=DIALECT)

    def join(self, n: int) -> StoredJoin:
        one = self.definition.joins[n]
        alias = self.aliases[one.table.alias]
        pairs = []
        for text in _conjuncts(one.on):
            sides = [self._side(side) for side in self._equal(text)]
            own = [side for side in sides if side[0] == alias]
            others = [side for side in sides if side[0] != alias]
            if len(own) != 1 or len(others) != 1:
                raise Unanswering(f"its join {text} is no equality of columns of two tables")
            pairs.append((".".join(others[0]), own[0][1]))
        return StoredJoin(alias, one.table.name, tuple(pairs))

    def _equal(self, text: str) -> tuple[exp.Expr, exp.Expr]:
        tree = sqlglot.parse_one(text, dialect=DIALECT).unnest()
        if not isinstance(tree, exp.EQ):
            raise Unanswering(f"its join {text} is no equality of columns of two tables")
        return tree.this.unnest(), tree.expression.unnest()

    def _side(self, node: exp.Expr) -> tuple[str, str]:
        if not isinstance(node, exp.Column):
            raise Unanswering(f"its join by {node.sql(dialect=DIALECT)} is not by a column")
        return self._alias(node), node.name.lower()

    def _placed(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        name = exp.to_identifier(node.name.lower(), quoted=True)
        return exp.column(name, table=exp.to_identifier(self._alias(node)))

    def _alias(self, column: exp.Column) -> str:
        if not column.table and len(self.aliases) == 1:
            return FACT
        found = self.aliases.get(column.table.lower())
        if found is None:
            raise Unanswering(f"its column {column.name} is written without a table's alias")
        return found


def _states(definition: Definition, n: int, kind: str) -> dict[str, str]:
    """Return what of an argument is kept: by function, SQL over the table's columns."""
    found = {}
    for function, needed_by in _STATES.items():
        if not definition.asks(n, *needed_by):
            continue
        if function == "sum":
            total = f"CAST({quoted(state('sum', n))} AS {_sum_type(kind)})"
            found["sum"] = f"CASE WHEN {quoted(state('count', n))} > 0 THEN {total} END"
        else:
            found[function] = quoted(state(_COLUMNS[function], n))
    return found


def _sum_type(kind: str) -> str:
    """Return the type that Spark gives to a sum, which is kept with more digits."""
    if kind in _WHOLE:
        return "BIGINT"
    if not kind.startswith("decimal("):
        return "DOUBLE"
    precision, scale = kind.removeprefix("decimal(").rstrip(")").split(",")
    return f"DECIMAL({min(_MOST_DIGITS, int(precision) + _MORE_DIGITS)}, {int(scale)})"


def _conjuncts(sql: str) -> list[str]:
    if not sql:
        return []
    waiting, found = [sqlglot.parse_one(sql, dialect=DIALECT)], []
    while waiting:
        node = waiting.pop().unnest()
        if isinstance(node, exp.And):
            waiting += [node.right, node.left]
        else:
            found.append(node.sql(dialect=DIALECT))
    return found
