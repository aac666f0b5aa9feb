"""The conditions of a query as a small tree over the field ids of one table.

Whatever a reader does not understand is `Unknown`: it never drops a data file. `a <> b` is the
negation of `a = b`, BETWEEN is a conjunction, and `<=>` a disjunction with `IsNull`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.like_patterns import TextMatch

Literal: TypeAlias = bool | int | float | Decimal | str | bytes | UUID | date | datetime | time
"""A value in a query; for dates and times an `int` is their number as docs/indexes.md says."""


class Operator(StrEnum):
    """How a column is compared with a value."""

    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True)
class Comparison:
    """`column operator value`."""

    field_id: int
    operator: Operator
    value: Literal


@dataclass(frozen=True)
class In:
    """`column IN (values)`; a null among the values is left out by the caller."""

    field_id: int
    values: tuple[Literal, ...]


@dataclass(frozen=True)
class IsNull:
    """`column IS NULL`."""

    field_id: int


@dataclass(frozen=True)
class IsNan:
    """`isnan(column)`."""

    field_id: int


@dataclass(frozen=True)
class Matches:
    """A condition on the column's text: LIKE, contains, has the word and so on."""

    field_id: int
    match: TextMatch


@dataclass(frozen=True)
class And:
    """All of these."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Or:
    """At least one of these."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: "Predicate"


@dataclass(frozen=True)
class Unknown:
    """Something that no index answers."""

    reason: str = "not understood"


Leaf: TypeAlias = Comparison | In | IsNull | IsNan | Matches
Predicate: TypeAlias = Leaf | And | Or | Not | Unknown

_POINTS = (Kind.BITMAP, Kind.BLOOM, Kind.BLOOMRF)
_RANGES = (Kind.BITMAP, Kind.BLOOMRF)
_TEXT = (Kind.WORD_BITMAP, Kind.NGRAM_BITMAP, Kind.WORD_BLOOM, Kind.NGRAM_BLOOM)


def leaves(predicate: Predicate) -> Iterator[Leaf]:
    """Yield the conditions on single columns."""
    if isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from leaves(part)
    elif isinstance(predicate, Not):
        yield from leaves(predicate.part)
    elif not isinstance(predicate, Unknown):
        yield predicate


def useful_kinds(leaf: Leaf) -> tuple[Kind, ...]:
    """Return the kinds of index that can answer this condition, the most exact first."""
    if isinstance(leaf, Matches):
        return _TEXT
    if isinstance(leaf, In) or (isinstance(leaf, Comparison) and leaf.operator == Operator.EQUAL):
        values = leaf.values if isinstance(leaf, In) else (leaf.value,)
        return _POINTS + (_TEXT if any(isinstance(one, str) for one in values) else ())
    if isinstance(leaf, Comparison):
        return _RANGES
    return _POINTS
