"""Definitions of cubes (docs/cubes.md): read from JSON, validated, and written."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from optimizer.cubes.domain.expressions import columns_of, split_column
from optimizer.cubes.domain.json_values import list_of, number_of, text_of, type_of, whole_of
from optimizer.cubes.domain.types import Function, is_dimension_type, state_type, unfit
from portal.lake.errors import RuleViolation

FORMAT = "lakewarden-cube"
VERSION = 1
DEFINITION_PROPERTY = "lakewarden.cube.definition"
COVERAGE_PROPERTY = "lakewarden.cube.coverage"
CUBES_PROPERTY = "lakewarden.cubes"
FACT = "fact"
TAKEN = frozenset({"unit", "star", "has", "rows"})
MAX_DIMENSIONS, MAX_MEASURES, MAX_JOINS, MAX_KEYS = 16, 32, 8, 8
MAX_LEAF = 1_000_000
MAX_BUDGET = 100
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_TABLE = re.compile(r"[^\s.`\x00-\x1f]{1,255}\.[^\s.`\x00-\x1f]{1,255}")


@dataclass(frozen=True, slots=True)
class Join:
    """An N:1 join; `on` has pairs of a qualified column before it and a column of its table."""

    alias: str
    table: str
    on: tuple[tuple[str, str], ...]
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a cube groups by."""

    name: str
    expression: str
    type: str


@dataclass(frozen=True, slots=True)
class Measure:
    """What is aggregated, and how; `type` is that of the expression."""

    name: str
    expression: str
    type: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StarTree:
    """How the star-tree is split; without `dimensions` all of the cube's are in it.

    With a `budget` each unit has the smallest leaf from `max_leaf` on with which it stays below so
    many times its rows without the tree, or no tree.
    """

    max_leaf: int = 10
    dimensions: tuple[str, ...] = ()
    skip_star: tuple[str, ...] = ()
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class StateColumn:
    """A column of the cube's table that holds a state of a measure."""

    name: str
    measure: Measure
    function: str
    type: str


@dataclass(frozen=True, slots=True)
class Definition:
    """One version of a cube's definition. `columns` is empty until a builder resolved it."""

    name: str
    table: str
    dimensions: tuple[Dimension, ...]
    measures: tuple[Measure, ...] = ()
    joins: tuple[Join, ...] = ()
    star_tree: StarTree | None = None
    table_uuid: str = ""
    time_zone: str = "UTC"
    definition_version: int = 1
    columns: Mapping[str, int] = field(default_factory=dict)

    @property
    def cube_table(self) -> str:
        """The name of the cube's own table."""
        return f"{self.table}__cube_{self.name}"

    def references(self) -> tuple[str, ...]:
        """Return every column that it uses, as `alias.column`, each once."""
        of_joins = (
            text
            for one in self.joins
            for left, right in one.on
            for text in (left, f"{one.alias}.{right}")
        )
        expressions = chain(
            (one.expression for one in self.dimensions), (one.expression for one in self.measures)
        )
        of_expressions = (f"{a}.{c}" for text in expressions for a, c in columns_of(text))
        return tuple(dict.fromkeys(chain(of_joins, of_expressions)))

    def is_resolved(self) -> bool:
        """Whether field ids and uuids are known, as engines need them."""
        has_uuids = self.table_uuid and all(one.uuid for one in self.joins)
        return bool(has_uuids) and all(one in self.columns for one in self.references())

    def states(self) -> tuple[StateColumn, ...]:
        """Return the columns of states in the order of the cube's table."""
        return tuple(
            StateColumn(f"{one.name}_{of}", one, of, state_type(Function(of), one.type))
            for one in self.measures
            for of in one.functions
        )

    def tree_bits(self) -> tuple[int, ...]:
        """Return the numbers of the dimensions that the star-tree may aggregate away."""
        tree = self.star_tree
        if tree is None:
            return ()
        inside = tree.dimensions or tuple(one.name for one in self.dimensions)
        return tuple(
            n
            for n, one in enumerate(self.dimensions)
            if one.name in inside and one.name not in tree.skip_star
        )


def parse(source: str | bytes | Mapping[str, Any]) -> Definition:
    """Return a validated definition.

    Raises:
        RuleViolation: `cube.definition`, `cube.newer` or `cube.expression`, with what is wrong.
    """
    try:
        data = source if isinstance(source, Mapping) else json.loads(source)
        if data.get("format", FORMAT) != FORMAT:
            _refuse("is of another format", why="foreign")
        if data.get("version", VERSION) != VERSION:
            raise RuleViolation(
                "cube.newer",
                f"The cube's definition is of version {data['version']}; this program reads "
                f"{VERSION}. Upgrade it.",
            )
        found = _read(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        _refuse(f"cannot be read: {type(error).__name__} {error}", why="damaged")
    validate(found)
    return found


def as_json(definition: Definition) -> dict[str, Any]:
    """Return what is stored as JSON."""
    tree = definition.star_tree
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": definition.name,
        "definition_version": definition.definition_version,
        "table": {"name": definition.table, "uuid": definition.table_uuid},
        "time_zone": definition.time_zone,
        "joins": joins_written(definition.joins),
        "dimensions": [
            {"name": d.name, "expression": d.expression, "type": d.type}
            for d in definition.dimensions
        ],
        "measures": [
            {
                "name": m.name,
                "expression": m.expression,
                "type": m.type,
                "functions": list(m.functions),
            }
            for m in definition.measures
        ],
        "columns": dict(definition.columns),
    }
    if tree is not None:
        found["star_tree"] = {
            "max_leaf": tree.max_leaf,
            "dimensions": list(tree.dimensions),
            "skip_star": list(tree.skip_star),
        }
        if tree.budget is not None:
            found["star_tree"]["budget"] = tree.budget
    return found


def serialise(definition: Definition) -> str:
    """Return the JSON as it stands in the property of the cube's table."""
    return json.dumps(as_json(definition), ensure_ascii=False, separators=(",", ":"))


def joins_read(rows: Iterable[Mapping[str, Any]]) -> tuple[Join, ...]:
    """Read joins as a definition and a task's order have them."""
    return tuple(
        Join(
            text_of(one["alias"]),
            text_of(one["table"]),
            tuple((text_of(left), text_of(right)) for left, right in one["on"]),
            text_of(one.get("uuid", "")),
        )
        for one in rows
    )


def joins_written(joins: Iterable[Join]) -> list[dict[str, Any]]:
    """Return the JSON of joins; `joins_read` gives them back."""
    return [
        {"alias": one.alias, "table": one.table, "uuid": one.uuid, "on": [list(p) for p in one.on]}
        for one in joins
    ]


def validate(definition: Definition) -> None:
    """Refuse a definition that cannot be built.

    Raises:
        RuleViolation: `cube.definition` or `cube.expression`, the first thing that is wrong.
    """
    _check_name(definition.name, "cube")
    if not _TABLE.fullmatch(definition.table):
        _refuse(f"names the table {definition.table!r}; write db.table")
    try:
        ZoneInfo(definition.time_zone)
    except (ValueError, OSError, KeyError):
        _refuse(f"names the time zone {definition.time_zone!r}; write Europe/Berlin or UTC, say")
    if not definition.dimensions:
        _refuse("has no dimensions; name at least one")
    for items, most, what in (
        (definition.dimensions, MAX_DIMENSIONS, "dimensions"),
        (definition.measures, MAX_MEASURES, "measures"),
        (definition.joins, MAX_JOINS, "joins"),
    ):
        if len(items) > most:
            _refuse(f"has {len(items)} {what}; at most {most} are allowed")
    aliases = _check_joins(definition)
    _check_dimensions(definition, aliases)
    _check_measures(definition, aliases)
    _check_columns(definition)
    if definition.star_tree is not None:
        _check_tree(definition, definition.star_tree)


def _check_joins(definition: Definition) -> set[str]:
    known = {FACT}
    for one in definition.joins:
        _check_name(one.alias, "join")
        if one.alias in known:
            _refuse(f"has the alias {one.alias} twice" if one.alias != FACT else "joins as fact")
        if not _TABLE.fullmatch(one.table):
            _refuse(f"joins the table {one.table!r}; write db.table")
        if not 1 <= len(one.on) <= MAX_KEYS:
            _refuse(f"joins {one.alias} on {len(one.on)} columns; 1 to {MAX_KEYS} are allowed")
        for left, right in one.on:
            alias, _ = split_column(left)
            if alias not in known:
                _refuse(
                    f"joins {one.alias} on {left}, but {alias} is not named before it; put the "
                    "join that it hangs on first"
                )
            split_column(f"{one.alias}.{right}")
        known.add(one.alias)
    return known


def _check_dimensions(definition: Definition, aliases: set[str]) -> None:
    for one in definition.dimensions:
        _check_name(one.name, "dimension")
        if not is_dimension_type(one.type):
            _refuse(
                f"has the dimension {one.name} of type {one.type}; take boolean, integers, "
                "decimal, date, timestamp or string (a float has -0 and NaN: cast it to decimal)"
            )
        _check_expression(one.name, one.expression, aliases)
    _check_unique(definition)


def _check_unique(definition: Definition) -> None:
    measures = [one.name for one in definition.measures]
    columns = [*(d.name for d in definition.dimensions)]
    columns += [f"{m.name}_{of}" for m in definition.measures for of in m.functions]
    for name in chain(_twice(measures), _twice(columns)):
        _refuse(f"has {name} twice; names of dimensions, measures and their states differ")


def _check_measures(definition: Definition, aliases: set[str]) -> None:
    for one in definition.measures:
        _check_name(one.name, "measure")
        _check_expression(one.name, one.expression, aliases)
        if not one.functions:
            _refuse(f"has the measure {one.name} without functions; name count, sum, min or max")
        for name in one.functions:
            if name not in {of.value for of in Function}:
                _refuse(f"has {name} of {one.name}; {', '.join(f.value for f in Function)} exist")
            reason = unfit(Function(name), one.type)
            if reason:
                _refuse(f"has {name} of {one.name}, which is {one.type}: {reason}")


def _check_columns(definition: Definition) -> None:
    for name, field_id in definition.columns.items():
        split_column(name)
        if field_id < 0:
            _refuse(f"has the field id {field_id} for {name}", why="damaged")


def _check_tree(definition: Definition, tree: StarTree) -> None:
    if not 1 <= tree.max_leaf <= MAX_LEAF:
        _refuse(f"has max_leaf {tree.max_leaf}; 1 to {MAX_LEAF:,} are allowed")
    if tree.budget is not None and not 1 < tree.budget <= MAX_BUDGET:
        _refuse(
            f"has the budget {tree.budget} of the star-tree; more than 1 and at most {MAX_BUDGET} "
            "times the rows of the cube are allowed"
        )
    names = {one.name for one in definition.dimensions}
    for what, listed in (("dimensions", tree.dimensions), ("skip_star", tree.skip_star)):
        for name in listed:
            if name not in names:
                _refuse(f"has {name} in star_tree.{what}, which is no dimension of it")
        for name in _twice(listed):
            _refuse(f"has {name} twice in star_tree.{what}")


def _check_expression(name: str, text: str, aliases: set[str]) -> None:
    for alias, column in columns_of(text):
        if alias not in aliases:
            _refuse(
                f"has {alias}.{column} in {name}, but no join with the alias {alias}; declare it, "
                "or write fact"
            )


def _check_name(name: str, what: str) -> None:
    if not _NAME.fullmatch(name):
        _refuse(
            f"has the {what} {name!r}; a name is a lower-case letter or _, then letters, digits "
            "and _, at most 40"
        )
    if name in TAKEN:
        _refuse(f"has the {what} {name}, which is a column of every cube; take another name")


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, n in Counter(names).items() if n > 1]


def _read(data: Mapping[str, Any]) -> Definition:
    table = data["table"]
    tree = data.get("star_tree")
    return Definition(
        name=text_of(data["name"]),
        table=text_of(table["name"]),
        table_uuid=text_of(table.get("uuid", "")),
        definition_version=whole_of(data.get("definition_version", 1)),
        time_zone=text_of(data.get("time_zone", "UTC")),
        joins=joins_read(data.get("joins") or ()),
        dimensions=tuple(
            Dimension(text_of(d["name"]), text_of(d["expression"]), type_of(d["type"]))
            for d in data["dimensions"]
        ),
        measures=tuple(
            Measure(
                text_of(m["name"]),
                text_of(m["expression"]),
                type_of(m["type"]),
                tuple(text_of(of) for of in list_of(m["functions"])),
            )
            for m in data.get("measures") or ()
        ),
        columns={text_of(a): whole_of(n) for a, n in (data.get("columns") or {}).items()},
        star_tree=None
        if tree is None
        else StarTree(
            whole_of(tree.get("max_leaf", 10)),
            tuple(text_of(one) for one in list_of(tree.get("dimensions") or [])),
            tuple(text_of(one) for one in list_of(tree.get("skip_star") or [])),
            None if tree.get("budget") is None else number_of(tree["budget"]),
        ),
    )


def _refuse(text: str, *, why: str = "") -> NoReturn:
    raise RuleViolation("cube.definition", f"The cube's definition {text}.", why=why)
