"""Places partitions in a heat map, so that neighbours in time or value are neighbours."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Iceberg writes days as 2026-01-31 and hours as 2026-01-31-05.
_IN_TIME = re.compile(r"(?P<key>[^=]+)=(?P<row>\d{4}-\d{2}(?:-\d{2})?)-(?P<column>\d{2})")
ROWS_AT_MOST = 40
WHOLE = "health"


@dataclass(frozen=True)
class Grid:
    """Rows and columns in order, and the value of each cell; None where there is no partition."""

    rows: list[str]
    columns: list[str]
    values: list[list[float | None]]


def grid_of(partitions: Iterable[tuple[str, float]]) -> Grid:
    """Lay partitions, worst first, out by their first key and the rest, or by month and day.

    What stands under two specs shows its worse value. Rows beyond ROWS_AT_MOST are left out, those
    with the best partitions first.
    """
    cells: dict[str, dict[str, float]] = {}
    for partition, health in partitions:
        row, column = place_of(partition)
        if row not in cells and len(cells) >= ROWS_AT_MOST:
            continue
        line = cells.setdefault(row, {})
        line[column] = min(health, line.get(column, health))
    columns = sorted({column for line in cells.values() for column in line})
    rows = sorted(cells)
    return Grid(rows, columns, [[cells[row].get(column) for column in columns] for row in rows])


def place_of(partition: str) -> tuple[str, str]:
    """Return the row and the column of a partition."""
    first, _, rest = partition.partition("/")
    if rest:
        return first, rest
    found = _IN_TIME.fullmatch(first)
    return (f"{found['key']}={found['row']}", found["column"]) if found else (first, WHOLE)
