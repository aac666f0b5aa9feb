"""Measures star-trees of cubes: storage, and the records that random queries read.

The cube has 35 thousand groups (40x25x7x5). Queries have none to two IN filters and none to two
group-bys; each is compared with brute force. `python -m bench.cube_tree`; figures in
bench/README.md.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from optimizer.cubes.domain.star_tree import Ints, TreeShape, order_of, split

CARDINALITIES = (40, 25, 7, 5)
QUERIES = 300
#: By max_leaf: storage, and records with the right masks. What passes the filters depends on them.
LIMITS = {100: (1.07, 8_007), 10: (1.22, 3_743), 1: (1.465, 2_093)}


def main() -> int:
    """Print one line a leaf; 1 where a figure is above what it should be."""
    rng = np.random.default_rng(7)
    drawn = np.stack([rng.integers(0, c, 200_000) for c in CARDINALITIES], axis=1)
    codes = np.unique(drawn.astype(np.int64), axis=0)
    values = rng.integers(0, 1000, len(codes))
    order = order_of(codes, range(len(CARDINALITIES)))
    failed = 0
    for max_leaf, limits in LIMITS.items():
        rows = split(codes, TreeShape(order, max_leaf))
        summed = np.add.reduceat(values[rows.members], rows.starts[:-1])
        queries = np.random.default_rng(11)
        read, passed = [], []
        for _ in range(QUERIES):
            filters = _filters(queries)
            groups = queries.choice(4, queries.integers(0, 3), replace=False).tolist()
            used = sum(1 << d for d in {*filters, *groups})
            masked = rows.star == (rows.has & ~used)
            keep = masked & _passes(rows.codes, filters)
            right = _grouped(codes, values, _passes(codes, filters), groups)
            if _grouped(rows.codes, summed, keep, groups) != right:
                failed = 1
                print(f"max_leaf {max_leaf}: {filters} {groups} differs from brute force")
            read.append(int(masked.sum()))
            passed.append(int(keep.sum()))
        found = (len(rows) / len(codes), float(np.mean(read)), float(np.mean(passed)))
        is_right = all(mine <= limit for mine, limit in zip(found[:2], limits, strict=True))
        failed |= not is_right
        print(
            f"max_leaf {max_leaf}: storage x{found[0]:.3f} of {len(codes):,}, "
            f"read {found[1]:,.0f}, after filters {found[2]:,.0f}; "
            f"limits {limits}: {'yes' if is_right else 'NO'}"
        )
    return failed


def _filters(rng: np.random.Generator) -> dict[int, list[int]]:
    chosen = rng.choice(4, rng.integers(0, 3), replace=False).tolist()
    return {
        d: rng.choice(CARDINALITIES[d], min(3, CARDINALITIES[d]), replace=False).tolist()
        for d in chosen
    }


def _passes(codes: Ints, filters: dict[int, list[int]]) -> NDArray[np.bool_]:
    found = np.ones(len(codes), dtype=np.bool_)
    for d, wanted in filters.items():
        found &= np.isin(codes[:, d], wanted)
    return found


def _grouped(
    codes: Ints, values: Ints, keep: NDArray[np.bool_], groups: list[int]
) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    keys = map(tuple, codes[keep][:, groups].tolist())
    for key, value in zip(keys, values[keep].tolist(), strict=True):
        found[key] = found.get(key, 0) + value
    return found


if __name__ == "__main__":
    sys.exit(main())
