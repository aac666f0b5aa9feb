"""Makes a cube's definition of a grouping, and says which groupings a cube's definition answers."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.advice.domain.asked import Aggregate, arithmetic_of
from optimizer.advice.domain.stars.groupings import ALL_ROWS, DISTINCT, OF_VALUES, SKETCHED
from optimizer.advice.domain.stars.names import (
    Path,
    Step,
    column_text,
    is_plain,
    path_text,
    read_column,
    read_path,
    whole_of,
)
from optimizer.advice.domain.stars.terms import PLAIN, defined_form, name_of, term_text
from optimizer.cubes.domain.definition import FACT, FORMAT, TAKEN, VERSION, Join, joins_read
from optimizer.cubes.domain.expressions import columns_of
from optimizer.cubes.domain.types import Function
from optimizer.matching.domain.dates import dated
from portal.lake.errors import RuleViolation

UTC = "UTC"
_LONGEST = 40
_ODD = re.compile(r"[^a-z0-9_]+")
_FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "avg": (Function.SUM.value, Function.COUNT.value),
    DISTINCT: (Function.DISTINCT.value,),
    SKETCHED: (Function.SKETCH.value,),
}


@dataclass(frozen=True, slots=True)
class Held:
    """What a cube holds: dimensions and joins by their names in a star, and states of measures.

    Of a column that is a dimension itself its forms follow.
    """

    dimensions: frozenset[str]
    states: frozenset[tuple[str, str]]
    """Function and column, or arithmetic of columns."""
    joins: frozenset[str]

    def answers(self, asked: "Held") -> bool:
        """Whether queries of the other are answered from this."""
        return (
            all(
                one in self.dimensions or whole_of(one) in self.dimensions
                for one in asked.dimensions
            )
            and self.joins >= asked.joins
            and all(self._has(*one) for one in asked.states)
        )

    def with_(self, other: "Held") -> "Held":
        """Return what holds both."""
        return Held(
            _needed(self.dimensions | other.dimensions),
            self.states | other.states,
            self.joins | other.joins,
        )

    def _has(self, function: str, column: str) -> bool:
        of_values = OF_VALUES | {Function.DISTINCT.value}
        return (function, column) in self.states or (
            function in of_values and column in self.dimensions
        )


def held_for(
    dimensions: Iterable[str], measures: Iterable[Aggregate], joins: Iterable[str]
) -> Held:
    """Return what a cube has to hold for a grouping: an average needs sum and count."""
    states = {
        (function, one.column)
        for one in measures
        if one != ALL_ROWS
        for function in _FUNCTIONS.get(one.function, (one.function,))
    }
    return Held(_needed(frozenset(dimensions)), frozenset(states), frozenset(joins))


def definition_of(held: Held, table: str, *, taken: Collection[str]) -> dict[str, Any]:
    """Return the definition of a cube of a table; `taken` has the names of those that it has.

    Types, uuids and field ids are not in it: who reads the tables adds them.
    """
    names = _Names()
    aliases: dict[Path, str] = {(): FACT}
    for path in _paths(held):
        aliases[path] = names.alias(path[-1].table.partition(".")[2])
    dimensions = []
    for text in _in_order(held):
        path, column, form = read_column(text)
        name = names.column(name_of(form, column), of=aliases[path])
        expression = term_text(form, f"{aliases[path]}.{column}")
        dimensions.append({"name": name, "expression": expression})
    functions: dict[str, list[str]] = {}
    for function, column in sorted(held.states):
        functions.setdefault(column, []).append(function)
    measures = [
        {
            "name": names.measure(column),
            "expression": _qualified(column),
            "functions": of,
        }
        for column, of in functions.items()
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": _cube_name([one["name"] for one in dimensions], taken),
        "table": {"name": table},
        "time_zone": UTC,
        "joins": [
            {
                "alias": alias,
                "table": path[-1].table,
                "on": [[f"{aliases[path[:-1]]}.{left}", right] for left, right in path[-1].on],
            }
            for path, alias in aliases.items()
            if path
        ],
        "dimensions": dimensions,
        "measures": measures,
    }


def used_of(held: Held, definition: Mapping[str, Any], asked: Held) -> list[str]:
    """Return the dimensions of a definition of `held` that queries of another need, by name."""
    texts = _in_order(held)
    names = dict(zip(texts, (one["name"] for one in definition["dimensions"]), strict=True))
    needed = {one if one in names else whole_of(one) for one in asked.dimensions}
    needed |= {column for function, column in asked.states - held.states}
    return [names[text] for text in texts if text in needed]


def _in_order(held: Held) -> list[str]:
    return sorted(held.dimensions, key=lambda text: (text.count("="), text))


def held_by(definition: Mapping[str, Any]) -> Held:
    """Return what a cube holds by its definition, as far as it is plain columns and arithmetic.

    A column that a join makes equal to a dimension counts as one. Forms of dates count in UTC
    alone, as those of queries do.
    """
    paths = _paths_of(joins_read(definition.get("joins") or ()))
    dimensions = {
        text
        for one in definition["dimensions"]
        if (text := _term(one["expression"], paths)) is not None
    }
    if definition.get("time_zone") != UTC:
        dimensions = {text for text in dimensions if whole_of(text) == text}
    for path in paths.values():
        for left, right in path[-1].on if path else ():
            pair = {column_text(path[:-1], left), column_text(path, right)}
            if pair & dimensions:
                dimensions |= pair
    states = {
        (function, column)
        for one in definition.get("measures") or ()
        if (column := _arithmetic(one["expression"])) is not None
        for function in one["functions"]
    }
    joins = frozenset(path_text(path) for path in paths.values() if path)
    return Held(frozenset(dimensions), frozenset(states), joins)


def _needed(dimensions: frozenset[str]) -> frozenset[str]:
    """Leave out forms of columns that are dimensions themselves."""
    return frozenset(
        one for one in dimensions if (whole := whole_of(one)) == one or whole not in dimensions
    )


def _paths(held: Held) -> list[Path]:
    """Return the paths of all joins, those that others hang on first."""
    found: set[Path] = set()
    ends = [read_path(text) for text in held.joins]
    ends += [read_column(text)[0] for text in held.dimensions]
    for path in ends:
        found |= {path[: n + 1] for n in range(len(path))}
    return sorted(found, key=lambda path: (len(path), path_text(path)))


def _paths_of(joins: Iterable[Join]) -> dict[str, Path]:
    """Return the path of each alias; those that hang on two tables at once have none."""
    paths: dict[str, Path] = {FACT: ()}
    for join in joins:
        lefts = {left.partition(".")[0] for left, _ in join.on}
        before = paths.get(next(iter(lefts))) if len(lefts) == 1 else None
        if before is not None:
            on = sorted((left.partition(".")[2].lower(), right.lower()) for left, right in join.on)
            left = before[-1].table if before else FACT
            paths[join.alias] = (*before, Step(left, join.table.lower(), tuple(on)))
    return paths


def _term(expression: str, paths: Mapping[str, Path]) -> str | None:
    """Return the column that a dimension is, or the form of one; None where it is anything else."""
    try:
        node = sqlglot.parse_one(expression, read="spark").unnest()
    except (SqlglotError, RecursionError):
        return None
    form, found = PLAIN, node
    if (date := dated(node)) is not None:
        form, found = defined_form(node), date[1]
        if form == PLAIN:
            return None
    if not isinstance(found, exp.Column):
        return None
    path, column = paths.get(found.table.lower()), found.name.lower()
    return None if path is None or not is_plain(column) else column_text(path, column, form)


def _arithmetic(expression: str) -> str | None:
    """Return the fact's column, or arithmetic of such, that a measure is of."""
    try:
        if {alias for alias, _ in columns_of(expression)} != {FACT}:
            return None
        return arithmetic_of(sqlglot.parse_one(expression, read="spark")) or None
    except (RuleViolation, SqlglotError, RecursionError):
        return None


def _qualified(text: str) -> str:
    tree = sqlglot.parse_one(text, read="spark")
    for one in list(tree.find_all(exp.Column)):
        one.set("table", exp.to_identifier(FACT))
    return tree.sql(dialect="spark")


def _cube_name(names: Iterable[str], taken: Collection[str]) -> str:
    base = "_".join(["by", *names][:3])[:_LONGEST].rstrip("_")
    return _free(base, taken)


def _free(base: str, taken: Collection[str]) -> str:
    if base not in taken:
        return base
    numbers = (f"{base[: _LONGEST - 4]}_{n}" for n in range(2, 1_000))
    return next(one for one in numbers if one not in taken)


def _name(text: str) -> str:
    found = _ODD.sub("_", text.lower())[:_LONGEST]
    return found if found[:1].isalpha() or found[:1] == "_" else f"_{found}"[:_LONGEST]


class _Names:
    """Names of one definition: none is taken twice, none is a word of SQL where it may not be."""

    def __init__(self) -> None:
        self._aliases = {FACT}
        self._columns = set(TAKEN)

    def alias(self, table: str) -> str:
        """Return an alias for a joined table."""
        base = _name(table)
        if not _is_read(base):
            base = _name(f"{base[: _LONGEST - 6]}_table")
        found = _free(base, self._aliases | TAKEN)
        self._aliases.add(found)
        return found

    def column(self, column: str, *, of: str) -> str:
        """Return a dimension's name."""
        base = _name(column)
        if base in self._columns:
            base = _name(f"{of}_{column}")
        found = _free(base, self._columns)
        self._columns.add(found)
        return found

    def measure(self, column: str) -> str:
        """Return a measure's name; the columns of its states are none of a dimension's."""
        base = _name(column).strip("_") or "measure"
        if {base, *_states(base)} & self._columns:
            base = _name(f"{base[: _LONGEST - 6]}_value")
        found = _free(base, self._columns)
        self._columns |= {found, *_states(found)}
        return found


def _states(measure: str) -> set[str]:
    return {f"{measure}_{one.value}" for one in Function}


def _is_read(alias: str) -> bool:
    try:
        return columns_of(f"{alias}.x") == ((alias, "x"),)
    except RuleViolation:
        return False
