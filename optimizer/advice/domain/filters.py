"""Kinds of filters on columns, whichever form a condition comes in."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

_LONGEST_NAME = 512


class FilterKind(StrEnum):
    """How a filter narrows a column; layouts and indexes differ in which of them they serve."""

    EQUAL = "="
    IN = "IN"
    RANGE = "range"
    PREFIX = "prefix"
    CONTAINS = "contains"
    NULL = "null"
    DYNAMIC = "dynamic"
    OTHER = "other"


POINTS = frozenset({FilterKind.EQUAL, FilterKind.IN, FilterKind.DYNAMIC})
"""Kinds that look for whole values."""


class Filter(NamedTuple):
    """A condition on a column."""

    column: str
    kind: FilterKind


def read_filters(pairs: Iterable[Sequence[str]]) -> tuple[Filter, ...]:
    """Return filters as a recorded shape keeps them: column and kind."""
    return tuple(Filter(column, FilterKind(kind)) for column, kind in pairs)


def is_name(text: str) -> bool:
    """Whether sums can be kept under it; no database holds half a character, which JSON can say."""
    return len(text) <= _LONGEST_NAME and text.isprintable()


def either(branches: Sequence[Sequence[tuple[int, Filter]]]) -> list[tuple[int, Filter]]:
    """Return what an OR filters: values of one column are a list, all else helps little."""
    every = [one for branch in branches for one in branch]
    subjects = {(number, one.column) for number, one in every}
    kinds = {one.kind for _, one in every}
    if len(subjects) == 1 and all(len(branch) == 1 for branch in branches):
        number, column = next(iter(subjects))
        if kinds <= {FilterKind.EQUAL, FilterKind.IN}:
            return [(number, Filter(column, FilterKind.IN))]
        if len(kinds) == 1:
            return [(number, Filter(column, kinds.pop()))]
        if kinds <= {FilterKind.EQUAL, FilterKind.IN, FilterKind.RANGE}:
            return [(number, Filter(column, FilterKind.RANGE))]
    return [(number, Filter(one.column, FilterKind.OTHER)) for number, one in every]


def negated(found: Sequence[tuple[int, Filter]]) -> list[tuple[int, Filter]]:
    """Return what a NOT of these filters: whether a value is null is asked either way."""
    return [
        (number, one if one.kind is FilterKind.NULL else Filter(one.column, FilterKind.OTHER))
        for number, one in found
    ]
