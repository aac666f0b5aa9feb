"""Star-trees as rows with masks (docs/cubes.md): which copies of a cube's rows an answer may read.

The rows of a cube are split by one dimension after the other, those with most values first. Where
a node has more than one child, its rows are merged once more without that dimension: its star
child. A query that uses the dimensions S reads exactly the rows with `star = has & ~S`.

Only codes of values are seen here: equal values have equal codes, NULL is a code like any other,
and a dimension that was aggregated away has the code `STAR`. Which states belong to a row is told
by `members`: the base rows whose states are merged in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
STAR = -1


@dataclass(frozen=True, slots=True)
class TreeShape:
    """How a tree is split: its dimensions in order, those without star children, and its leaf."""

    order: tuple[int, ...]
    max_leaf: int
    skip_star: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class StarRows:
    """The rows of one tree.

    `codes` has a line a row and a column a dimension. `star` and `has` are its masks. The base
    rows of row i are `members[starts[i]:starts[i + 1]]`; those with `star` 0 have one each.
    """

    codes: Ints
    star: Ints
    has: Ints
    members: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.star)

    def owners(self) -> Ints:
        """Return for each of `members` the row that it is merged in."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def order_of(codes: Ints, dimensions: Sequence[int]) -> tuple[int, ...]:
    """Return dimensions by descending number of values; equal ones stay in their order."""
    n_values = {d: len(np.unique(codes[:, d])) for d in dimensions}
    return tuple(sorted(dimensions, key=lambda d: (-n_values[d], d)))


def split(codes: Ints, shape: TreeShape) -> StarRows:
    """Return the rows of the tree over base rows, of which no two have equal codes."""
    builder = _Builder(codes, shape)
    base = np.arange(len(codes), dtype=np.int64)
    builder.split(_Node(codes, base, np.arange(len(codes) + 1, dtype=np.int64), 0, 0), 0)
    return builder.rows()


def n_rows_of(codes: Ints, shape: TreeShape, *, most: int | None = None) -> int | None:
    """Return how many rows a tree has; None as soon as there are more than `most`."""
    builder = _Builder(codes, shape, most=most)
    base = np.arange(len(codes), dtype=np.int64)
    try:
        builder.split(_Node(codes, base, np.arange(len(codes) + 1, dtype=np.int64), 0, 0), 0)
    except _TooManyError:
        return None
    return builder.n_rows


def choose_max_leaf(
    codes: Ints,
    shape: TreeShape,
    *,
    budget: float,
    leaves: Sequence[int] = (10, 30, 100, 300, 1000),
) -> int | None:
    """Return the smallest leaf with which a tree stays within `budget` times its base rows.

    The shape's own is the first that is tried. None where not even the largest one does: no tree
    pays then. `codes` may be a sample.
    """
    most = int(len(codes) * budget)
    larger = (one for one in sorted(leaves) if one > shape.max_leaf)
    for max_leaf in (shape.max_leaf, *larger):
        asked = TreeShape(shape.order, max_leaf, shape.skip_star)
        if n_rows_of(codes, asked, most=most) is not None:
            return max_leaf
    return None


def shape_within(codes: Ints, shape: TreeShape, budget: float | None) -> TreeShape:
    """Return a shape whose tree stays within a budget; without splits where none does.

    Trees of units may differ: each row says by its masks who may read it.
    """
    if budget is None:
        return shape
    max_leaf = choose_max_leaf(codes, shape, budget=budget)
    if max_leaf is None:
        return TreeShape((), shape.max_leaf, shape.skip_star)
    return TreeShape(shape.order, max_leaf, shape.skip_star)


class _TooManyError(Exception):
    """The tree is larger than asked for."""


@dataclass(frozen=True, slots=True)
class _Node:
    """Rows below one node, sorted by nothing yet, with their base rows and masks."""

    codes: Ints
    members: Ints
    starts: Ints
    star: int
    has: int


class _Builder:
    """Splits nodes and collects what stands in the leaves."""

    def __init__(self, codes: Ints, shape: TreeShape, *, most: int | None = None) -> None:
        self._n_dimensions = codes.shape[1]
        self._shape = shape
        self._most = most
        self._leaves: list[_Node] = []
        self.n_rows = 0

    def split(self, node: _Node, level: int) -> None:
        """Split a node by the tree's dimension of a level, or keep it as a leaf.

        Levels at which a node has one child need no call of their own: nothing is merged there.
        """
        order = self._shape.order
        while level < len(order):
            if len(node.codes) <= self._shape.max_leaf:
                break
            dimension = order[level]
            by = np.argsort(node.codes[:, dimension], kind="stable")
            values = node.codes[by, dimension]
            cuts = np.flatnonzero(values[1:] != values[:-1]) + 1
            if len(cuts):
                self._split(node, level, by, cuts)
                return
            level += 1
        self._keep(node)

    def _split(self, node: _Node, level: int, by: Ints, cuts: Ints) -> None:
        dimension = self._shape.order[level]
        bit = 1 << dimension
        has = node.has
        if dimension not in self._shape.skip_star:
            has |= bit
            self.split(_merged(node, dimension, star=node.star | bit, has=has), level + 1)
        bounds = [0, *cuts.tolist(), len(by)]
        if level + 1 == len(self._shape.order):
            self._keep(_Node(node.codes, node.members, node.starts, node.star, has))
            return
        sizes = np.diff(bounds)
        small = sizes <= self._shape.max_leaf
        # Small children are leaves with equal masks, so they are kept together.
        if small.any():
            self._keep(_taken(node, by[np.repeat(small, sizes)], has))
        for n in np.flatnonzero(~small).tolist():
            self.split(_taken(node, by[bounds[n] : bounds[n + 1]], has), level + 1)

    def _keep(self, node: _Node) -> None:
        self.n_rows += len(node.codes)
        if self._most is not None and self.n_rows > self._most:
            raise _TooManyError
        self._leaves.append(node)

    def rows(self) -> StarRows:
        """Return the rows of all leaves."""
        leaves = self._leaves
        if not leaves:
            none = np.zeros(0, dtype=np.int64)
            codes = np.zeros((0, self._n_dimensions), dtype=np.int64)
            return StarRows(codes, none, none, none, np.zeros(1, dtype=np.int64))
        sizes = np.concatenate([np.diff(one.starts) for one in leaves])
        return StarRows(
            np.concatenate([one.codes for one in leaves]),
            np.concatenate([np.full(len(one.codes), one.star) for one in leaves]),
            np.concatenate([np.full(len(one.codes), one.has) for one in leaves]),
            np.concatenate([one.members for one in leaves]),
            np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]),
        )


def _taken(node: _Node, rows: Ints, has: int) -> _Node:
    """Return some rows of a node, in this order."""
    members, starts = _gathered(node.members, node.starts, rows)
    return _Node(node.codes[rows], members, starts, node.star, has)


def _merged(node: _Node, dimension: int, *, star: int, has: int) -> _Node:
    """Return the rows of a node without a dimension; equal ones become one."""
    codes = node.codes.copy()
    codes[:, dimension] = STAR
    by = np.lexsort(codes.T[::-1])
    ordered = codes[by]
    is_first = np.ones(len(by), dtype=np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    firsts = np.flatnonzero(is_first)
    members, starts = _gathered(node.members, node.starts, by)
    return _Node(ordered[firsts], members, starts[np.append(firsts, len(by))], star, has)


def _gathered(members: Ints, starts: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the members of some rows one after the other, and where each begins."""
    sizes = starts[rows + 1] - starts[rows]
    bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    if bounds[-1] == len(rows):
        return members[starts[rows]], bounds
    within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], sizes)
    return members[np.repeat(starts[rows], sizes) + within], bounds


def read_by(rows: StarRows, used: int) -> Iterator[int]:
    """Yield the rows that a query reads which uses the dimensions of these bits."""
    yield from np.flatnonzero(rows.star == (rows.has & ~used)).tolist()
