"""Makes queries of recorded filters, whose constants nobody kept, from rows of a sample.

Engines report filters without their constants. A query that looks for a value of a row that is
there is what most queries are, so each is drawn from a row; which filters come together is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.advice.domain.filters import POINTS, Filter, FilterKind
from optimizer.advice.domain.what_if import Asking, Range
from optimizer.iceberg.rewrite.domain.boundaries import Values

DRAWN = 24
"""Queries that stand for one shape: so many rows are looked for in each layout."""
RANGE_ROWS = 0.05
"""The share of the rows that a range takes in: reports do not say how wide one is."""
_SEED = 20

HELPED = POINTS | {FilterKind.PREFIX, FilterKind.RANGE}
"""Kinds that a layout can help; rows lie in the order of whole values."""


@dataclass(frozen=True, slots=True)
class RecordedScans:
    """Scans that filtered a table in one way; files are those left to read."""

    filters: tuple[Filter, ...]
    n_scans: int
    n_files: int


def drawn_queries(
    columns: Mapping[str, tuple[str, Values]], recorded: Sequence[RecordedScans]
) -> list[Asking]:
    """Return queries for a sample's rows, weighed by the files that the scans planned.

    As `drawn_by_shape`, one shape after the other.
    """
    return [one for queries in drawn_by_shape(columns, recorded) for one in queries]


def drawn_by_shape(
    columns: Mapping[str, tuple[str, Values]],
    recorded: Sequence[RecordedScans],
    *,
    drawn: int = DRAWN,
) -> list[list[Asking]]:
    """Return queries for each shape, so many at most, that together weigh what its scans do.

    A shape whose filters no layout helps, or whose columns are not in the sample, reads all.
    `columns` is as for `WhatIf`. The same input gives the same queries.
    """
    n_rows = len(next(iter(columns.values()))[1]) if columns else 0
    ranked = {name: np.sort(values) for name, (_, values) in columns.items()}
    generator = np.random.default_rng(_SEED)
    found: list[list[Asking]] = []
    for one in recorded:
        helped = [each for each in one.filters if each.column in ranked and each.kind in HELPED]
        weight = float(max(one.n_files, one.n_scans))
        if not helped or not n_rows:
            found.append([Asking((), weight)])
            continue
        queries = []
        for row in generator.integers(0, n_rows, drawn):
            ranges = tuple(
                _around(each, columns[each.column][1], ranked[each.column], int(row))
                for each in helped
            )
            queries.append(Asking(ranges, weight / drawn))
        found.append(queries)
    return found


def _around(one: Filter, values: Values, ranked: Values, row: int) -> Range:
    value = values[row]
    if one.kind is not FilterKind.RANGE:
        return Range(one.column, value, value)
    first = int(np.searchsorted(ranked, value))
    last = min(len(ranked) - 1, first + int(RANGE_ROWS * len(ranked)))
    return Range(one.column, value, ranked[last])
