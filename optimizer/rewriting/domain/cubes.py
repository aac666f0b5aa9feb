"""Says what of a cube can be read beside a snapshot of its table, from definition and coverage."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from optimizer.cubes.domain.coverage import Bound, Coverage, Judgement
from optimizer.cubes.domain.definition import FACT, Definition
from optimizer.cubes.domain.expressions import split_column
from optimizer.matching.domain.views import View, ViewDimension, ViewJoin, ViewMeasure
from optimizer.matching.domain.whole_numbers import ARITHMETIC
from optimizer.rewriting.domain.facts import CubeFacts
from portal.lake.errors import RuleViolation

MOST_LISTED = 2_000
"""So many files that are not covered are kept by name; with more of them a cube is not used."""

WHOLE = ("tinyint", "smallint", "int", "bigint")
Fields = Mapping[str, Mapping[int, str]]
"""The columns of each table of a definition, by alias: field id to name."""


def view_of(definition: Definition, fields: Fields) -> View:
    """Return a definition with the names that its columns have now.

    Raises:
        RuleViolation: `cube.column_missing`, one is gone.
    """
    names = {one: _name_now(one, definition, fields) for one in definition.references()}
    return View(
        definition.name,
        definition.table.lower(),
        tuple(
            ViewJoin(
                one.alias,
                one.table.lower(),
                tuple(
                    (names[left], split_column(names[f"{one.alias}.{right}"])[1])
                    for left, right in one.on
                ),
            )
            for one in definition.joins
        ),
        tuple(
            ViewDimension(one.name, _renamed(one.expression, names), one.type)
            for one in definition.dimensions
        ),
        tuple(
            ViewMeasure(
                one.name, _renamed(one.expression, names), one.type, frozenset(one.functions)
            )
            for one in definition.measures
        ),
        definition.time_zone,
    )


def _name_now(column: str, definition: Definition, fields: Fields) -> str:
    alias, name = split_column(column)
    field_id = definition.columns.get(column)
    now = fields.get(alias, {}).get(-1 if field_id is None else field_id)
    if now is None:
        table = FACT if alias == FACT else alias
        raise RuleViolation(
            "cube.column_missing",
            f"the column {name} of {table} is gone; define the cube again",
            column=column,
        )
    return f"{alias}.{now.lower()}"


def _renamed(expression: str, names: Mapping[str, str]) -> str:
    if all(old.lower() == new for old, new in names.items()):
        return expression
    tree = sqlglot.parse_one(expression, dialect="spark")
    for column in tree.find_all(exp.Column):
        _, name = split_column(names[f"{column.table.lower()}.{column.name}"])
        column.set("this", exp.to_identifier(name, quoted=True))
    return tree.sql(dialect="spark")


@dataclass(frozen=True)
class StoredCube:
    """A cube's own table at the snapshot that it is read at."""

    metadata_location: str
    n_rows: int
    n_bytes: int


def cube_facts(
    view: View,
    definition: Definition,
    coverage: Coverage,
    judged: Judgement,
    stored: StoredCube,
    sizes: Mapping[str, int],
) -> CubeFacts:
    """Return what can be read of a cube; `sizes` are bytes of the table's files by location."""
    uncovered = judged.uncovered or ()
    is_whole = coverage.exact and set(judged.units) == {one.number for one in coverage.units}
    bounds = coverage.bounds
    floats = [one.name for one in definition.measures if one.type in ("float", "double")]
    return CubeFacts(
        view,
        definition.cube_table.lower(),
        coverage.cube_snapshot_id,
        stored.metadata_location,
        star=tuple(definition.dimensions[n].name for n in definition.tree_bits()),
        units=None if is_whole else ranges(judged.units),
        n_rows=stored.n_rows,
        n_bytes=stored.n_bytes,
        covered_rows=judged.covered_rows,
        uncovered=tuple(uncovered[:MOST_LISTED]),
        n_uncovered=judged.uncovered_files,
        uncovered_rows=judged.uncovered_rows,
        uncovered_bytes=sum(sizes.get(one, 0) for one in uncovered),
        dimensions={alias: one.snapshot_ids for alias, one in coverage.joined.items()},
        max_abs={name: one.max_abs for name, one in bounds.items() if one.max_abs is not None},
        negative_zero=frozenset(
            name for name in floats if bounds.get(name, Bound(negative_zero=True)).negative_zero
        ),
    )


def ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return whole numbers as ranges without gaps, both ends in."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def whole_columns(cubes: Iterable[CubeFacts], types: Mapping[str, str]) -> list[str]:
    """Return the table's columns of whole numbers with which measures compute."""
    found: set[str] = set()
    for measure in (one for cube in cubes for one in cube.view.measures):
        tree = sqlglot.parse_one(measure.expression, dialect="spark")
        if isinstance(tree.unnest(), ARITHMETIC):
            found |= {one.name.lower() for one in tree.find_all(exp.Column) if one.table == FACT}
    return sorted(one for one in found if types.get(one) in WHOLE)
