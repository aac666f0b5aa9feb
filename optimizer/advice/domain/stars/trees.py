"""Decides whether an advised cube has a star-tree, from what its queries would read of one."""

from collections.abc import Mapping
from typing import Any

from optimizer.cubes.domain.estimates import SMALL_BYTES

STAR_TREE: Mapping[str, Any] = {"max_leaf": 100, "budget": 1.5}
"""The tree that is tried: larger leaves save less, and more rows cost more to keep."""
MOST_READ = 0.5
"""Of a cube's rows that its queries read by way of the tree, in the mean; else it is in vain."""


def is_worth_a_tree(found: Mapping[str, Any]) -> bool:
    """Whether a tree is estimated at all: smaller cubes are read whole in no time."""
    return bool(found["pays"]) and found["cube_bytes"] >= SMALL_BYTES


def with_tree(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition with the tree that is tried."""
    return {**definition, "star_tree": dict(STAR_TREE)}


def tree_pays(found: Mapping[str, Any]) -> bool:
    """Whether queries read so much less by an estimate's tree that its rows are worth keeping.

    A tree that does not stay within its budget is none.
    """
    read = found.get("star_read")
    return read is not None and read <= MOST_READ and not found["star_files_without"]
