"""Masks of star-tree rows: which rows a query reads that uses a set of dimensions."""

from collections.abc import Iterable
from itertools import chain, combinations

from optimizer.cubes.domain.definition import Definition

MOST_STARS = 64
"""So many values of `star` are listed beside the predicate at most."""


def used_mask(definition: Definition, used: Iterable[str]) -> int:
    """Return the bits of the dimensions that a query filters or groups by."""
    wanted = set(used)
    return sum(1 << n for n, one in enumerate(definition.dimensions) if one.name in wanted)


def free_mask(definition: Definition, used: Iterable[str]) -> int:
    """Return the bits of the other dimensions: a query reads the rows with `star = has & free`."""
    return ((1 << len(definition.dimensions)) - 1) & ~used_mask(definition, used)


def stars(definition: Definition, used: Iterable[str]) -> tuple[int, ...] | None:
    """Return every `star` that the rows of a query can have; None where they are too many.

    Beside the predicate it lets engines skip row groups by their bounds and dictionaries.
    """
    free = free_mask(definition, used)
    bits = [1 << n for n in definition.tree_bits() if free & (1 << n)]
    if 1 << len(bits) > MOST_STARS:
        return None
    subsets = chain.from_iterable(combinations(bits, n) for n in range(len(bits) + 1))
    return tuple(sorted(sum(one) for one in subsets))


def spark_predicate(definition: Definition, used: Iterable[str]) -> str:
    """Return the predicate as Spark SQL."""
    names = tuple(used)
    return _with_stars(definition, names, f"star = (has & {free_mask(definition, names)})")


def trino_predicate(definition: Definition, used: Iterable[str]) -> str:
    """Return the predicate as Trino has it."""
    names = tuple(used)
    rule = f"star = bitwise_and(has, {free_mask(definition, names)})"
    return _with_stars(definition, names, rule)


def _with_stars(definition: Definition, used: tuple[str, ...], rule: str) -> str:
    listed = stars(definition, used)
    if listed is None:
        return rule
    return f"star IN ({', '.join(map(str, listed))}) AND {rule}"
