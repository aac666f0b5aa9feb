"""Estimates the rows of a cube's star-tree from the groups of some sampled files."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.estimates import TreeSample
from optimizer.cubes.domain.star_tree import TreeShape, order_of, read_by, shape_within, split

_MOST_GROUPS = 200_000


class AskedOf(NamedTuple):
    """Queries that filter or group a cube by these dimensions."""

    dimensions: Sequence[str]
    n_queries: int


def sample_tree(
    groups: DataFrame,
    file: str,
    n_groups: Mapping[str, int],
    definition: Mapping[str, Any],
    asked: Sequence[AskedOf] = (),
) -> TreeSample | None:
    """Return what the tree makes of the groups of some files; None without a tree or a file.

    `n_groups` has the groups by file. The smaller files are taken, as many as are read quickly.
    """
    star = definition.get("star_tree")
    names = [one["name"] for one in definition["dimensions"]]
    files = _some(n_groups)
    if not star or not files:
        return None
    inside = star.get("dimensions") or names
    within = [n for n, name in enumerate(names) if name in inside]
    skipped = frozenset(n for n in within if names[n] in star.get("skip_star", ()))
    picked = groups.where(F.col(file).isin(files)).select(file, *(f"`{name}`" for name in names))
    n_base = n_rows = leaf = 0
    n_without = n_read = 0
    masks = [(_mask(names, one.dimensions), one.n_queries) for one in asked]
    for _, of_file in picked.toPandas().groupby(file):
        codes = np.stack(
            [pd.factorize(of_file[name], use_na_sentinel=False)[0] for name in names], axis=1
        ).astype(np.int64)
        wanted = TreeShape(order_of(codes, within), int(star["max_leaf"]), skipped)
        shape = shape_within(codes, wanted, star.get("budget"))
        n_base += len(codes)
        rows = split(codes, shape)
        n_rows += len(rows)
        n_read += sum(n * len(list(read_by(rows, mask))) for mask, n in masks)
        n_without += not shape.order
        leaf = max(leaf, shape.max_leaf if shape.order else 0)
    n_whole = n_base * sum(n for _, n in masks)
    read = n_read / n_whole if n_whole else None
    return TreeSample(n_base, n_rows, leaf, len(files), n_without, read)


def _mask(names: Sequence[str], used: Sequence[str]) -> int:
    return sum(1 << n for n, name in enumerate(names) if name in used)


def _some(n_groups: Mapping[str, int]) -> Sequence[str]:
    found: list[str] = []
    total = 0
    for name in sorted(n_groups, key=lambda one: n_groups[one]):
        total += n_groups[name]
        if total > _MOST_GROUPS:
            break
        found.append(name)
    return found
