"""Says what a statement has from the cubes that answer it, in counts of rows and bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.rewriting.domain.answers import Answer
from optimizer.rewriting.domain.facts import TableFacts


@dataclass(frozen=True, slots=True)
class CubeUse:
    """One cube in one statement; the portal's API of reports has the same words."""

    table_uuid: str
    cube: str
    rows: int
    """Of the table, not read: the cube covers them."""
    bytes: int
    """Of the data files that hold those rows."""
    fresh_rows: int
    cube_rows: int
    cube_bytes: int


def uses_of(answer: Answer, tables: Mapping[str, TableFacts]) -> tuple[CubeUse, ...]:
    """Return each cube that answers some of a query, once, however often the query reads it."""
    used = {one.used for one in answer.blocks if one.used}
    return tuple(
        CubeUse(
            facts.uuid,
            cube.view.name,
            rows=cube.covered_rows,
            bytes=max(facts.n_bytes - cube.uncovered_bytes, 0),
            fresh_rows=cube.uncovered_rows,
            cube_rows=cube.n_rows,
            cube_bytes=cube.n_bytes,
        )
        for facts in tables.values()
        for cube in facts.cubes
        if cube.table in used
    )
