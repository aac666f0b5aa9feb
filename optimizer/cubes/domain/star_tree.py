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
_MOST_KEY = 1 << 62


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
    return _joined(list(_leaves(codes, shape)), codes.shape[1])


def n_rows_of(codes: Ints, shape: TreeShape, *, most: int | None = None) -> int | None:
    """Return how many rows a tree has; None as soon as there are more than `most`."""
    n_rows = 0
    for leaves in _leaves(codes, shape, most=most):
        if leaves is None:
            return None
        n_rows += len(leaves)
    return None if most is not None and n_rows > most else n_rows


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


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of all nodes of one level, or of leaves: their node, codes, masks and base rows."""

    node: Ints
    codes: Ints
    star: Ints
    has: Ints
    members: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.node)

    def taken(self, rows: Ints) -> "_Rows":
        """Return some rows, in this order."""
        members, starts = _gathered(self.members, self.starts, rows)
        return _Rows(
            self.node[rows], self.codes[rows], self.star[rows], self.has[rows], members, starts
        )


def _leaves(codes: Ints, shape: TreeShape, *, most: int | None = None) -> Iterator[_Rows | None]:
    """Yield the leaves, level by level: all nodes of a level are split at once.

    None, and no more, as soon as there are more rows than `most`.
    """
    n, no_bits = len(codes), np.zeros(len(codes), dtype=np.int64)
    whole = np.arange(n + 1, dtype=np.int64)
    left = _Rows(no_bits, codes, no_bits, no_bits, whole[:-1], whole)
    # A leaf has at least as many rows as there are rows above it.
    n_rows = 0
    for dimension in shape.order:
        is_small = np.bincount(left.node)[left.node] <= shape.max_leaf
        if is_small.any():
            yield left.taken(np.flatnonzero(is_small))
            n_rows += int(is_small.sum())
            left = left.taken(np.flatnonzero(~is_small))
        if not len(left):
            return
        left = _split_level(left, dimension, is_starred=dimension not in shape.skip_star)
        if most is not None and n_rows + len(left) > most:
            yield None
            return
    yield left


def _split_level(rows: _Rows, dimension: int, *, is_starred: bool) -> _Rows:
    """Return the children of nodes; a node whose rows have one value stays as it is."""
    values = rows.codes[:, dimension]
    by, is_first = _ordered([rows.node, values])
    child = np.empty(len(rows), dtype=np.int64)
    child[by] = np.cumsum(is_first) - 1
    n_children = np.bincount(rows.node[by[is_first]])
    is_split = n_children[rows.node] > 1
    if not is_starred:
        return _Rows(child, rows.codes, rows.star, rows.has, rows.members, rows.starts)
    bit = 1 << dimension
    has = np.where(is_split, rows.has | bit, rows.has)
    children = _Rows(child, rows.codes, rows.star, has, rows.members, rows.starts)
    if not is_split.any():
        return children
    return _stacked([children, _star_children(rows, np.flatnonzero(is_split), dimension, child)])


def _star_children(rows: _Rows, split_rows: Ints, dimension: int, child: Ints) -> _Rows:
    """Return the rows of split nodes without a dimension, equal ones merged, as further nodes."""
    copies = rows.taken(split_rows)
    codes, bit = copies.codes.copy(), 1 << dimension
    codes[:, dimension] = STAR
    by, is_first = _ordered([copies.node, *codes.T])
    firsts = np.flatnonzero(is_first)
    members, starts = _gathered(copies.members, copies.starts, by)
    kept = by[firsts]
    numbers = np.unique(copies.node[kept], return_inverse=True)[1] + int(child.max()) + 1
    return _Rows(
        numbers,
        codes[kept],
        copies.star[kept] | bit,
        copies.has[kept] | bit,
        members,
        starts[np.append(firsts, len(by))],
    )


def _ordered(columns: Sequence[Ints]) -> tuple[Ints, NDArray[np.bool_]]:
    """Return an order in which equal rows stand together, and which of it begin other values."""
    keys = _packed(columns)
    by = np.lexsort(keys) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    is_first = np.zeros(len(by), dtype=np.bool_)
    is_first[:1] = True
    for key in keys:
        ordered = key[by]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    return by, is_first


def _packed(columns: Sequence[Ints]) -> list[Ints]:
    """Return as few numbers a row as hold its values, each of which is `STAR` or more.

    One key is sorted in a fraction of the time of one a column.
    """
    keys: list[Ints] = []
    size = _MOST_KEY
    for column in columns:
        n_values = int(column.max(initial=STAR)) - STAR + 1
        if size * n_values >= _MOST_KEY:
            keys.append(column - STAR)
            size = n_values
        else:
            keys[-1] = keys[-1] * n_values + (column - STAR)
            size *= n_values
    return keys


def _gathered(members: Ints, starts: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the members of some rows one after the other, and where each begins."""
    sizes = starts[rows + 1] - starts[rows]
    bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    if bounds[-1] == len(rows):
        return members[starts[rows]], bounds
    within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], sizes)
    return members[np.repeat(starts[rows], sizes) + within], bounds


def _stacked(parts: Sequence[_Rows]) -> _Rows:
    sizes = np.concatenate([np.diff(one.starts) for one in parts])
    return _Rows(
        np.concatenate([one.node for one in parts]),
        np.concatenate([one.codes for one in parts]),
        np.concatenate([one.star for one in parts]),
        np.concatenate([one.has for one in parts]),
        np.concatenate([one.members for one in parts]),
        np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]),
    )


def _joined(leaves: Sequence[_Rows | None], n_dimensions: int) -> StarRows:
    """Return the rows of all leaves."""
    none = np.zeros(0, dtype=np.int64)
    start = np.zeros(1, dtype=np.int64)
    empty = _Rows(none, np.zeros((0, n_dimensions), dtype=np.int64), none, none, none, start)
    rows = _stacked([empty, *(one for one in leaves if one is not None)])
    return StarRows(rows.codes, rows.star, rows.has, rows.members, rows.starts)


def read_by(rows: StarRows, used: int) -> Iterator[int]:
    """Yield the rows that a query reads which uses the dimensions of these bits."""
    yield from np.flatnonzero(rows.star == (rows.has & ~used)).tolist()
