"""Writes what an aggregate would hold as a SELECT, and reads what the SELECT of one holds."""

from collections.abc import Mapping
from typing import Any

from optimizer.advice.domain.asked import asked_in
from optimizer.advice.domain.stars.drafts import Held, definition_of, held_for
from optimizer.advice.domain.stars.groupings import star_groupings
from optimizer.cubes.domain.types import Function
from optimizer.pruning.domain.uses import Names
from portal.lake.errors import RuleViolation

DIALECT = "spark"
ROWS = "n_rows"
"""The number of rows of each group; always held, so that averages can be made of sums."""
_CALLS: Mapping[str, str] = {
    Function.SUM.value: "sum({})",
    Function.COUNT.value: "count({})",
    Function.MIN.value: "min({})",
    Function.MAX.value: "max({})",
    Function.DISTINCT.value: "count(DISTINCT {})",
}


def can_be_kept(held: Held) -> bool:
    """Whether it has groups, and SQL has a function for every state: sketches are a cube's."""
    return bool(held.dimensions) and all(function in _CALLS for function, _ in held.states)


def select_of(held: Held, table: str) -> tuple[str, str]:
    """Return a name for the table of an aggregate of `table`, and its SELECT.

    All joins are inner ones; what they drop or repeat is the SELECT's to say.
    """
    definition = definition_of(held, table, taken=())
    columns = [(one["expression"], one["name"]) for one in definition["dimensions"]]
    taken = {name for _, name in columns}
    items = [f"{expression} AS {name}" for expression, name in columns]
    items.append(f"count(*) AS {_free(ROWS, taken)}")
    for one in definition["measures"]:
        for function in one["functions"]:
            name = _free(f"{one['name']}_{function}", taken)
            items.append(f"{_CALLS[function].format(one['expression'])} AS {name}")
    lines = ["SELECT " + ",\n  ".join(items), f"FROM {table} fact"]
    lines += [_join(one) for one in definition["joins"]]
    if columns:
        lines.append("GROUP BY " + ", ".join(expression for expression, _ in columns))
    name = f"{table.partition('.')[2]}_{definition['name']}"
    return name[:120], "\n".join(lines)


def held_by_select(sql: str) -> tuple[str, Held] | None:
    """Return the table of facts and what an aggregate holds by its SELECT.

    None where it is of some rows alone, or of more than groups and plain aggregates: then nobody
    can say here which queries it answers.
    """
    try:
        asked = asked_in(sql, DIALECT, Names(), {})
    except RuleViolation:
        return None
    if not asked or any(one.filters for one in asked):
        return None
    groupings = star_groupings(asked, {asked[0].table: 1})
    if len(groupings) != 1 or groupings[0].refused:
        return None
    found = groupings[0]
    return found.table, held_for(found.dimensions, found.measures, found.joins)


def _join(join: Mapping[str, Any]) -> str:
    on = " AND ".join(f"{left} = {join['alias']}.{right}" for left, right in join["on"])
    return f"JOIN {join['table']} {join['alias']} ON {on}"


def _free(base: str, taken: set[str]) -> str:
    found, n = base, 2
    while found in taken:
        found, n = f"{base}_{n}", n + 1
    taken.add(found)
    return found
