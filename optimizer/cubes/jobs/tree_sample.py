"""Estimates the rows of a cube's star-tree from the groups of some sampled files."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.estimates import TreeSample
from optimizer.cubes.domain.star_tree import TreeShape, n_rows_of, order_of, shape_within

_MOST_GROUPS = 200_000


def sample_tree(
    groups: DataFrame, file: str, n_groups: Mapping[str, int], definition: Mapping[str, Any]
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
    n_without = 0
    for _, of_file in picked.toPandas().groupby(file):
        codes = np.stack(
            [pd.factorize(of_file[name], use_na_sentinel=False)[0] for name in names], axis=1
        ).astype(np.int64)
        wanted = TreeShape(order_of(codes, within), int(star["max_leaf"]), skipped)
        shape = shape_within(codes, wanted, star.get("budget"))
        n_base += len(codes)
        n_rows += n_rows_of(codes, shape) or 0
        n_without += not shape.order
        leaf = max(leaf, shape.max_leaf if shape.order else 0)
    return TreeSample(n_base, n_rows, leaf, len(files), n_without)


def _some(n_groups: Mapping[str, int]) -> Sequence[str]:
    found: list[str] = []
    total = 0
    for name in sorted(n_groups, key=lambda one: n_groups[one]):
        total += n_groups[name]
        if total > _MOST_GROUPS:
            break
        found.append(name)
    return found
