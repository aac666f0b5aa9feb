"""Says what share of a table recorded queries would read in a layout that it does not have.

The rows of a sample are put into files as a rewrite would put them, and each query opens the files
whose smallest and greatest values fit its conditions. Nothing is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.iceberg.rewrite.domain.boundaries import Boundaries, ColumnBoundaries, Values
from optimizer.iceberg.rewrite.domain.layouts import (
    MOST_COLUMNS,
    NO_LAYOUT,
    Layout,
    LayoutKind,
)
from optimizer.iceberg.rewrite.domain.row_keys import RowKeys, cut_points, places_of

ROWS_A_FILE = 32
"""Rows of the sample that a file has at least: with fewer its span would come out too small."""
MANY_SMALL = 2
"""Times the files that a rewrite makes; more are small ones."""
LEAST_GAIN = 0.02
"""Another column has to save so much of the table, or it only makes the others worse."""


@dataclass(frozen=True, slots=True)
class Range:
    """A condition on a column, in values of its form; None is open, both ends belong to it."""

    column: str
    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True)
class Asking:
    """The ranges that a query asks of a table, and what it counts for (its bytes or seconds)."""

    ranges: tuple[Range, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Tried:
    """A layout, and the share of the table that the queries would read in it (0 to 1)."""

    layout: Layout
    share: float


class WhatIf:
    """A sample of a table's rows, and queries that would read it.

    `columns` holds, by name, the form of the values (`value_forms`) and the values of the sample's
    rows in the order in which they lie in the table; nulls are the caller's to leave out. `lie`
    says in which file each row lies now, file by file; without it, or with few rows of each, the
    rows are cut evenly.
    """

    def __init__(
        self,
        columns: Mapping[str, tuple[str, Values]],
        queries: Sequence[Asking],
        *,
        n_files: int,
        lie: Values | None = None,
    ) -> None:
        self._columns = dict(columns)
        self._n_rows = len(next(iter(self._columns.values()))[1])
        # Fewer files are a careful estimate: each is read for more queries.
        self.n_files = max(1, min(n_files, self._n_rows // ROWS_A_FILE))
        self._codes: dict[str, NDArray[np.int64]] = {}
        self._distinct: dict[str, Values] = {}
        for name, (_, values) in self._columns.items():
            self._distinct[name], codes = np.unique(values, return_inverse=True)
            self._codes[name] = codes.astype(np.int64)
        even = self._evenly()
        self._lie = even if lie is None else _begins(lie)
        if len(self._lie) * ROWS_A_FILE > self._n_rows:
            self._lie = even
        # Small files are compacted whatever the order is, so that is not what a layout saves.
        self._begins_now = even if len(self._lie) > MANY_SMALL * self.n_files else self._lie
        self._weights = np.array([one.weight for one in queries], dtype=np.float64)
        self._asked = [[self._coded(one) for one in query.ranges] for query in queries]

    def share(self, layout: Layout) -> float:
        """Return the share of the table that the queries read, each by its weight; 1 without any.

        Raises:
            KeyError: a column of the layout is not in the sample.
        """
        if not self._weights.sum():
            return 1.0
        opened = self._opened(*self._files(layout))
        return float((opened * self._weights).sum() / self._weights.sum())

    def weigh_by_files(self) -> None:
        """Weigh queries by all that they could read; what they read now was given as their weight.

        Else what the rows' order serves already would count for little, and be given up for it.
        """
        now = self._opened(np.arange(self._n_rows), self._lie)
        self._weights = self._weights / np.maximum(now, 1 / self._n_rows)

    def asked_most(self) -> list[str]:
        """Return the columns that queries ask, those of most weight first."""
        found: dict[str, float] = {}
        for ranges, weight in zip(self._asked, self._weights.tolist(), strict=True):
            for column in {one for one, _, _ in ranges}:
                found[column] = found.get(column, 0.0) + weight
        return sorted(found, key=lambda name: (-found[name], name))

    def tried(self, columns: Sequence[str], *, now: Layout = NO_LAYOUT) -> list[Tried]:
        """Try layouts of these columns; the best first, then what came after it.

        A column is added where it saves most together with those that are there already, so that
        one which only helps alone is not.
        """
        found = {now: self.share(now)}
        best: tuple[str, ...] = ()
        while len(best) < MOST_COLUMNS:
            added = {
                layout: self.share(layout)
                for name in columns
                if name not in best
                for layout in _layouts((*best, name))
            }
            found |= added
            last = found[_curve(best)] if best else found[now]
            chosen = min(added, key=lambda one: added[one], default=now)
            if not added or last - added[chosen] < LEAST_GAIN:
                break
            best = chosen.columns
        return sorted(
            (Tried(layout, share) for layout, share in found.items()),
            key=lambda one: (one.share, len(one.layout.columns), str(one.layout)),
        )

    # -- inside ----------------------------------------------------------------------------

    def _opened(self, order: NDArray[np.intp], begins: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share of the files that each query opens."""
        spans = self._spans(order, begins)
        opened = np.empty(len(self._asked))
        for number, ranges in enumerate(self._asked):
            fits = np.ones(len(begins), dtype=np.bool_)
            for column, low, high in ranges:
                smallest, greatest = spans[column]
                fits &= (smallest <= high) & (greatest >= low)
            opened[number] = fits.mean()
        return opened

    def _coded(self, asked: Range) -> tuple[str, int, int]:
        distinct = self._distinct[asked.column]
        low = 0 if asked.low is None else int(np.searchsorted(distinct, asked.low, side="left"))
        if asked.high is None:
            return asked.column, low, len(distinct)
        return asked.column, low, int(np.searchsorted(distinct, asked.high, side="right")) - 1

    def _spans(
        self, order: NDArray[np.intp], begins: NDArray[np.intp]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the smallest and the greatest code of each column in each file."""
        wanted = {column for ranges in self._asked for column, _, _ in ranges}
        spans = {}
        for name in wanted:
            codes = self._codes[name][order]
            least, most = np.minimum.reduceat(codes, begins), np.maximum.reduceat(codes, begins)
            spans[name] = (least, most)
        return spans

    def _files(self, layout: Layout) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows in the order of the files, and where each file begins."""
        if layout.kind is LayoutKind.NONE:
            return np.arange(self._n_rows), self._begins_now
        if layout.kind is LayoutKind.SORT:
            order = np.lexsort([self._codes[name] for name in reversed(layout.columns)])
            return order, self._evenly()
        keys = self._keys(layout)
        places = places_of(keys, cut_points(keys, n_files=self.n_files))
        order = np.argsort(places, kind="stable")
        begins = np.searchsorted(places[order], np.arange(self.n_files))
        # A file without rows would have no span; it takes its neighbour's first row.
        return order, np.minimum(begins, self._n_rows - 1)

    def _evenly(self) -> NDArray[np.intp]:
        return np.arange(self.n_files) * self._n_rows // self.n_files

    def _keys(self, layout: Layout) -> NDArray[np.int64]:
        boundaries = Boundaries(
            tuple(ColumnBoundaries.of_sample(name, *self._columns[name]) for name in layout.columns)
        )
        row_keys = RowKeys(layout.kind, boundaries)
        values = [self._columns[name][1] for name in layout.columns]
        return row_keys(values, nulls=np.zeros(self._n_rows, dtype=np.int64))


def _begins(lie: Values) -> NDArray[np.intp]:
    """Return where each run of equal values begins."""
    return np.concatenate([[0], np.flatnonzero(lie[1:] != lie[:-1]) + 1])


def _layouts(columns: tuple[str, ...]) -> Iterator[Layout]:
    yield _curve(columns)
    if len(columns) > 1:
        yield Layout(LayoutKind.SORT, columns)


def _curve(columns: tuple[str, ...]) -> Layout:
    kind = LayoutKind.HILBERT if len(columns) > 1 else LayoutKind.SORT
    return Layout(kind, columns)
