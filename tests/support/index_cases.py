"""Random columns, their indexes, and random conditions with what they mean row by row.

The meaning is worked out twice, with NaN above all numbers (Spark) and NaN in no relation (Trino).
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from hypothesis import strategies as st

from optimizer.indexes.domain.builders import Built, IndexBuilder, Wanted, blob_of
from optimizer.indexes.domain.envelope import Expected, Kind
from optimizer.indexes.domain.leaf_probes import Opened
from optimizer.indexes.domain.like_patterns import (
    TextMatch,
    contains,
    ends_with,
    equal_to,
    has_token,
    like,
    starts_with,
)
from optimizer.indexes.domain.predicates import (
    And,
    Comparison,
    In,
    IsNan,
    IsNull,
    Leaf,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    Unknown,
)
from optimizer.indexes.domain.probing import opened
from optimizer.indexes.domain.values import ColumnType, column_type
from tests.support.index_values import Plain, values_of

TABLE = UUID(int=77)
Rows = Sequence[Plain | None]

_SMALL = st.integers(-4, 6)
_LONG = _SMALL | st.sampled_from([-(2**63), 2**63 - 1, 2**53, 2**53 + 1])
_DOUBLE = st.sampled_from([0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf, 0.1, 5e-324, 3.0])
_SINGLE = _DOUBLE.map(lambda one: float(np.float32(one)))
_TEXT = st.text(alphabet=st.sampled_from("abAB1 -é世K"), max_size=6)
_CENTS = st.integers(-300, 300).map(lambda one: Decimal(one) / 100)
_HUGE = st.integers(-(10**37), 10**37).map(Decimal) | _SMALL.map(Decimal)
VALUES: Mapping[str, st.SearchStrategy[Plain]] = {
    "boolean": st.booleans(),
    "int": _SMALL,
    "long": _LONG,
    "date": _SMALL,
    "time": st.integers(0, 6),
    "timestamp": _LONG,
    "timestamptz_ns": _SMALL,
    "float": _SINGLE,
    "double": _DOUBLE,
    "decimal(9,2)": _CENTS,
    "decimal(38,0)": _HUGE,
    "string": _TEXT,
    "uuid": st.integers(0, 5).map(lambda one: UUID(int=one << 100)),
    "binary": st.binary(max_size=3) | st.binary(min_size=8, max_size=10),
}
LITERALS: Mapping[str, st.SearchStrategy[Plain]] = {
    "long": _LONG | st.sampled_from([0.5, 3.0, Decimal("1.5"), Decimal(2), 2**63, -(2**64), 1e30]),
    "int": _LONG | st.sampled_from([0.5, 2**40]),
    "date": _SMALL,
    "float": _DOUBLE | _SMALL | st.just(Decimal("0.1")),
    "double": _DOUBLE | _SMALL | st.just(Decimal("0.1")),
    "decimal(9,2)": _CENTS | _SMALL | st.sampled_from([Decimal("0.005"), 10**12, -(10**20)]),
    "decimal(38,0)": _HUGE | st.sampled_from([10**37, Decimal("0.5")]),
}


@dataclass(frozen=True)
class Table:
    """The rows of one data file, by field id."""

    types: Mapping[int, ColumnType]
    rows: Mapping[int, Rows]
    names: Mapping[int, str]
    count: int


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Return up to three random columns of the same number of rows."""
    count = draw(st.integers(0, 14))
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
    types, rows = {}, {}
    for field_id, name in enumerate(names, 1):
        kind = column_type(name)
        assert kind is not None
        types[field_id] = kind
        value = st.none() | VALUES[name] if draw(st.booleans()) else VALUES[name]
        rows[field_id] = draw(st.lists(value, min_size=count, max_size=count))
    return Table(types, rows, dict(enumerate(names, 1)), count)


def indexes_of(table: Table, kinds: Mapping[int, Sequence[Kind]], n: int) -> list[Opened]:
    """Return the indexes of these kinds, built, written and read; those that fit the type."""
    found = []
    for field_id, kind in table.types.items():
        expected = Expected(TABLE, field_id, 5, table.count, kind)
        for one in kinds[field_id]:
            builder = IndexBuilder(kind, Wanted(one, bits_a_key=6, n=n))
            builder.add(values_of(kind, table.rows[field_id]))
            built = builder.finish()
            if isinstance(built, Built):
                read = opened(blob_of(built, expected), expected)
                assert isinstance(read, Opened)
                found.append(read)
    return found


@st.composite
def conditions(draw: st.DrawFn, table: Table, depth: int = 2) -> Predicate:
    """Return a random condition on the columns of a table."""
    shape = draw(st.sampled_from(["leaf", "leaf", "and", "or", "not", "unknown"]))
    if shape == "unknown" and draw(st.integers(0, 3)) == 0:
        return Unknown()
    if depth == 0 or shape in {"leaf", "unknown"}:
        return draw(_leaves(table))
    if shape == "not":
        return Not(draw(conditions(table, depth - 1)))
    parts = tuple(draw(st.lists(conditions(table, depth - 1), max_size=3)))
    return And(parts) if shape == "and" else Or(parts)


@st.composite
def _leaves(draw: st.DrawFn, table: Table) -> Leaf:
    field_id = draw(st.sampled_from(sorted(table.types)))
    name = table.names[field_id]
    literal: Any = LITERALS.get(name, VALUES[name])
    there = [one for one in table.rows[field_id] if one is not None]
    if there:
        literal = literal | st.sampled_from(there)
    shape = draw(st.sampled_from(["compare", "compare", "in", "null", "nan", "text"]))
    if shape == "null":
        return IsNull(field_id)
    if shape == "nan" and name in {"float", "double"}:
        return IsNan(field_id)
    if shape == "in":
        return In(field_id, tuple(draw(st.lists(literal, max_size=3))))
    if shape == "text" and name == "string":
        return Matches(field_id, draw(_matches(there)))
    return Comparison(field_id, draw(st.sampled_from(Operator)), draw(literal))


@st.composite
def _matches(draw: st.DrawFn, there: Sequence[Any]) -> TextMatch:
    text = draw(_TEXT | st.sampled_from(there) if there else _TEXT)
    start = draw(st.integers(0, len(text)))
    part = text[start : draw(st.integers(start, len(text)))]
    lowered = draw(st.booleans())
    shape = draw(st.sampled_from(list(_MEANINGS)))
    if shape == "like":
        part = part.replace("1", "%").replace("-", "_")
        match = like(part, lowered=lowered)
    elif shape == "token":
        match = has_token(part)
    else:
        made: Callable[..., TextMatch] = _MAKERS[shape]
        match = made(part, lowered=lowered)
    assert match is not None
    # The meaning is remembered beside the match, which holds only what it must find.
    _MEANT[id(match)] = (match, shape, part, lowered)
    return match


_MAKERS = {"contains": contains, "starts": starts_with, "ends": ends_with, "equal": equal_to}
_MEANINGS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "starts": lambda text, part: text.startswith(part),
    "ends": lambda text, part: text.endswith(part),
    "equal": lambda text, part: text == part,
    "like": lambda text, part: bool(
        re.fullmatch(re.escape(part).replace("%", ".*").replace("_", "."), text, re.DOTALL)
    ),
    "token": lambda text, part: set(_words(part)) <= set(_words(text)),
}
_MEANT: dict[int, tuple[TextMatch, str, str, bool]] = {}


def forget() -> None:
    """Forget the meanings of earlier matches."""
    _MEANT.clear()


def _words(text: str) -> list[str]:
    return [one.lower() for one in re.findall("[0-9a-zA-Z]+", text)]


_COMPARE = {
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


def _compared(how: Operator, value: Any, literal: Any, *, nan_on_top: bool) -> bool:
    if isinstance(value, bytes | str):
        return bool(_COMPARE[how](_raw(value), _raw(literal)))
    if isinstance(value, UUID):
        return bool(_COMPARE[how](value.bytes, literal.bytes))
    if isinstance(value, float):
        literal = float(literal)
        if nan_on_top:
            pair = [(math.isnan(one), 0 if math.isnan(one) else one) for one in (value, literal)]
            return bool(_COMPARE[how](*pair))
    if isinstance(value, Decimal) and isinstance(literal, float):
        value = float(value)
    return bool(_COMPARE[how](value, literal))


def _raw(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def meaning(predicate: Predicate, table: Table, row: int, *, nan_on_top: bool) -> bool | None:
    """Return what the condition is for this row; None: null, or nobody knows."""
    if isinstance(predicate, And | Or):
        parts = [meaning(p, table, row, nan_on_top=nan_on_top) for p in predicate.parts]
        decisive = isinstance(predicate, Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(predicate, Not):
        part = meaning(predicate.part, table, row, nan_on_top=nan_on_top)
        return None if part is None else not part
    if isinstance(predicate, Unknown):
        return row % 2 == 0
    value = table.rows[predicate.field_id][row]
    if isinstance(predicate, IsNull):
        return value is None
    if value is None:
        return False if isinstance(predicate, IsNan) else None
    return _of_value(predicate, value, nan_on_top=nan_on_top)


def _of_value(leaf: Leaf, value: Plain, *, nan_on_top: bool) -> bool:
    if isinstance(leaf, IsNan):
        return isinstance(value, float) and math.isnan(value)
    if isinstance(leaf, In):
        return any(
            _compared(Operator.EQUAL, value, one, nan_on_top=nan_on_top) for one in leaf.values
        )
    if isinstance(leaf, Comparison):
        return _compared(leaf.operator, value, leaf.value, nan_on_top=nan_on_top)
    assert isinstance(leaf, Matches)
    assert isinstance(value, str)
    _, shape, part, lowered = _MEANT[id(leaf.match)]
    return _MEANINGS[shape](value.lower() if lowered and shape != "token" else value, part)
