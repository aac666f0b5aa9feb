"""Reads the definition of a cube as people type it, line by line, and writes it back.

    joins       part: ssb.part on lo_partkey = p_partkey
    dimensions  brand = part.p_brand1      or only   lo_shipmode
    measures    revenue = lo_revenue: sum, count

What cannot be read is said by field and line, all of it at once, so that a form shows it where it
stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.cubes.domain.definition import (
    FACT,
    FORMAT,
    MAX_BUDGET,
    MAX_DIMENSIONS,
    MAX_JOINS,
    MAX_LEAF,
    MAX_MEASURES,
    TAKEN,
    VERSION,
)
from optimizer.cubes.domain.expressions import columns_of
from optimizer.cubes.domain.types import Function
from portal.lake.errors import RuleViolation

FUNCTIONS = tuple(one.value for one in Function)
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_TABLE = re.compile(r"[A-Za-z0-9_]+\.[A-Za-z0-9_]+")
_JOIN = re.compile(
    r"\s*(?P<alias>[^\s:]+)\s*:\s*(?P<table>[^\s:]+)\s+on\s+(?P<on>\S.*)", re.IGNORECASE
)
_PAIR = re.compile(r"\s*(?:(\w+)\.)?(\w+)\s*=\s*(?:(\w+)\.)?(\w+)\s*")
_AND = re.compile(r"\s+and\s+|\s*,\s*", re.IGNORECASE)
_NAMED = re.compile(r"\s*(?P<name>\w+)\s*=(?!=)\s*(?P<expression>.+?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong in a field; `line` counts from 1, 0: the whole field."""

    field: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition as it is typed; `max_leaf` None: no star-tree."""

    name: str
    joins: str = ""
    dimensions: str = ""
    measures: str = ""
    max_leaf: int | None = None
    star_dimensions: str = ""
    skip_star: str = ""
    budget: float | None = None
    time_zone: str = "UTC"


@dataclass
class _Reading:
    refused: list[Refused] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def no(self, name: str, line: int, message: str) -> None:
        self.refused.append(Refused(name, line, message))


def read_draft(draft: Draft, table: str) -> tuple[dict[str, Any], list[Refused]]:
    """Return the definition that a draft means, and what is wrong with it.

    Types, uuids and field ids are not in it: who reads the tables adds them.
    """
    reading = _Reading()
    name = draft.name.strip().lower()
    if not _NAME.fullmatch(name):
        reading.no("name", 0, "A cube's name is a letter, then letters, digits or _; 40 at most.")
    joins = list(_joins(draft, reading))
    dimensions = list(_dimensions(draft, reading))
    measures = list(_measures(draft, reading))
    definition: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "table": {"name": table},
        "time_zone": draft.time_zone.strip() or "UTC",
        "joins": joins,
        "dimensions": dimensions,
        "measures": measures,
    }
    star = _star_tree(draft, [one["name"] for one in dimensions], reading)
    if star is not None:
        definition["star_tree"] = star
    for alias in sorted(set(reading.aliases) - _used(joins, dimensions, measures)):
        if reading.refused:
            break  # what uses it may be what could not be read
        reading.no("joins", 0, f"Nothing uses the join {alias}; take it out, or use its columns.")
    return definition, reading.refused


def parse_draft(draft: Draft, table: str) -> dict[str, Any]:
    """Return the definition that a draft means.

    Raises:
        RuleViolation: `cube.definition`, with the first thing that is wrong.
    """
    definition, refused = read_draft(draft, table)
    if refused:
        first = refused[0]
        raise RuleViolation(
            "cube.definition", f"{first.field.capitalize()}: {first}", field=first.field
        )
    return definition


def draft_of(definition: Mapping[str, Any]) -> Draft:
    """Return a definition as people type it."""
    star = definition.get("star_tree") or {}
    return Draft(
        name=definition["name"],
        joins="\n".join(
            f"{one['alias']}: {one['table']} on "
            + " and ".join(f"{left} = {right}" for left, right in one["on"])
            for one in definition.get("joins", ())
        ),
        dimensions="\n".join(
            f"{one['name']} = {one['expression']}" for one in definition["dimensions"]
        ),
        measures="\n".join(
            f"{one['name']} = {one['expression']}: {', '.join(one['functions'])}"
            for one in definition["measures"]
        ),
        max_leaf=star.get("max_leaf"),
        star_dimensions=", ".join(star.get("dimensions", ())),
        skip_star=", ".join(star.get("skip_star", ())),
        budget=star.get("budget"),
        time_zone=definition.get("time_zone", "UTC"),
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, line.strip()


def _joins(draft: Draft, reading: _Reading) -> Iterator[dict[str, Any]]:
    lines = list(_lines(draft.joins))
    if len(lines) > MAX_JOINS:
        reading.no("joins", 0, f"A cube has at most {MAX_JOINS} joins.")
    for number, line in lines[:MAX_JOINS]:
        found = _JOIN.fullmatch(line)
        if found is None:
            reading.no("joins", number, "Write it as `alias: database.table on column = its_key`.")
            continue
        alias, table = found["alias"].lower(), found["table"].lower()
        if not _NAME.fullmatch(alias) or alias == FACT or alias in reading.aliases:
            reading.no("joins", number, f"The alias {alias} is taken, or is no plain name.")
            continue
        if not _TABLE.fullmatch(table):
            reading.no("joins", number, f"Write the table {table} as database.table.")
            continue
        pairs = [_pair(text, alias, number, reading) for text in _AND.split(found["on"])]
        reading.aliases[alias] = table
        if all(pairs):
            yield {"alias": alias, "table": table, "on": pairs}


def _pair(text: str, alias: str, number: int, reading: _Reading) -> list[str] | None:
    found = _PAIR.fullmatch(text)
    if found is None:
        reading.no("joins", number, f"Write {text.strip()} as `column = its_key`.")
        return None
    left, left_column, right, right_column = found.groups()
    left, right = (left or FACT).lower(), (right or alias).lower()
    if left != FACT and left not in reading.aliases:
        reading.no(
            "joins", number, f"{left} is neither {FACT} nor an alias of a line above this one."
        )
        return None
    if right != alias:
        reading.no("joins", number, f"The right side is a column of {alias}, not of {right}.")
        return None
    return [f"{left}.{left_column}", right_column]


def _dimensions(draft: Draft, reading: _Reading) -> Iterator[dict[str, Any]]:
    lines = list(_lines(draft.dimensions))
    if not 1 <= len(lines) <= MAX_DIMENSIONS:
        reading.no("dimensions", 0, f"A cube has 1 to {MAX_DIMENSIONS} dimensions, one a line.")
    for number, line in lines[:MAX_DIMENSIONS]:
        found = _expression("dimensions", number, line, reading)
        if found is not None:
            yield found


def _measures(draft: Draft, reading: _Reading) -> Iterator[dict[str, Any]]:
    lines = list(_lines(draft.measures))
    if len(lines) > MAX_MEASURES:
        reading.no("measures", 0, f"A cube has at most {MAX_MEASURES} measures.")
    for number, line in lines[:MAX_MEASURES]:
        text, colon, said = line.rpartition(":")
        functions = [one.strip().lower() for one in said.split(",") if one.strip()]
        wrong = [one for one in functions if one not in FUNCTIONS]
        if not colon or not functions or wrong:
            reading.no(
                "measures",
                number,
                f"Write it as `name = expression: functions`, of {', '.join(FUNCTIONS)}."
                + (f" {wrong[0]} is none of them." if wrong and colon else ""),
            )
            continue
        found = _expression("measures", number, text.strip(), reading)
        if found is not None:
            yield {**found, "functions": list(dict.fromkeys(functions))}


def _expression(name: str, number: int, line: str, reading: _Reading) -> dict[str, Any] | None:
    named = _NAMED.fullmatch(line)
    text = named["expression"] if named else line
    try:
        text = qualified(text)
        columns = columns_of(text)
    except RuleViolation as error:
        reading.no(name, number, error.message)
        return None
    if named is None and text != f"{columns[0][0]}.{columns[0][1]}":
        reading.no(name, number, f"Give it a name: `name = {line}`.")
        return None
    for alias, column in columns:
        if alias != FACT and alias not in reading.aliases:
            reading.no(name, number, f"{alias}.{column}: no join has the alias {alias}.")
            return None
    called = (named["name"] if named else columns[0][1]).lower()
    if not _NAME.fullmatch(called) or called in TAKEN or called in reading.names:
        reading.no(name, number, f"The name {called} is taken, or is no plain name.")
        return None
    reading.names.add(called)
    return {"name": called, "expression": text}


def qualified(text: str) -> str:
    """Return an expression in which columns without an alias are written as those of the table.

    What cannot be parsed comes back as it is: whoever checks the expression says so.
    """
    try:
        tree = sqlglot.parse_one(text, read="spark")
    except (SqlglotError, RecursionError):
        return text
    bare = [one for one in tree.find_all(exp.Column) if not one.table]
    if not bare:
        return text
    for one in bare:
        one.set("table", exp.to_identifier(FACT))
    return tree.sql(dialect="spark")


def _star_tree(draft: Draft, dimensions: Sequence[str], reading: _Reading) -> dict[str, Any] | None:
    over, skipped = _listed(draft.star_dimensions), _listed(draft.skip_star)
    if draft.max_leaf is None:
        if over or skipped or draft.budget is not None:
            reading.no("max_leaf", 0, "Say how many rows a leaf may have, such as 10.")
        return None
    if not 1 <= draft.max_leaf <= MAX_LEAF:
        reading.no("max_leaf", 0, f"A leaf has 1 to {MAX_LEAF:,} rows; 10 is a good start.")
    for name, said in (("star_dimensions", over), ("skip_star", skipped)):
        if missing := [one for one in said if one not in dimensions]:
            reading.no(name, 0, f"{missing[0]} is no dimension of the cube.")
    found: dict[str, Any] = {
        "max_leaf": draft.max_leaf,
        "dimensions": over,
        "skip_star": skipped,
    }
    if draft.budget is not None:
        if not 1 < draft.budget <= MAX_BUDGET:
            reading.no(
                "budget", 0, f"A budget is more than 1 and at most {MAX_BUDGET} times the rows."
            )
        found["budget"] = draft.budget
    return found


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(one.strip().lower() for one in text.split(",") if one.strip()))


def _used(
    joins: Sequence[Mapping[str, Any]],
    dimensions: Sequence[Mapping[str, Any]],
    measures: Sequence[Mapping[str, Any]],
) -> set[str]:
    found = {left.partition(".")[0] for join in joins for left, _ in join["on"]}
    for one in (*dimensions, *measures):
        found |= {alias for alias, _ in columns_of(one["expression"])}
    return found
