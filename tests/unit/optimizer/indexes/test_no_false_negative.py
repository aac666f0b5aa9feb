"""No row that satisfies a condition is ever left out, whatever the types, values and indexes.

`make index-cases` runs a hundred thousand cases.
"""

import os
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.indexes.domain.builders import Built, IndexBuilder, Wanted, blob_of
from optimizer.indexes.domain.envelope import Expected, Kind, Refusal
from optimizer.indexes.domain.leaf_probes import Opened
from optimizer.indexes.domain.like_patterns import contains
from optimizer.indexes.domain.predicates import (
    And,
    Comparison,
    IsNull,
    Leaf,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    Unknown,
    leaves,
    useful_kinds,
)
from optimizer.indexes.domain.probing import opened, probe
from optimizer.indexes.domain.values import ColumnType, ValueClass
from tests.support.index_cases import (
    TABLE,
    Table,
    conditions,
    forget,
    indexes_of,
    meaning,
    tables,
)
from tests.support.index_values import values_of

CASES = int(os.environ.get("INDEX_CASES", "2000"))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=CASES, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_no_row_that_satisfies_a_condition_is_left_out(data: st.DataObject) -> None:
    forget()
    table = data.draw(tables())
    kinds = {
        field_id: data.draw(st.lists(st.sampled_from(Kind), max_size=3, unique=True))
        for field_id in table.types
    }
    indexes = indexes_of(table, kinds, data.draw(st.integers(1, 3)))
    predicate = data.draw(conditions(table))
    verdict = probe(predicate, indexes, table.count)
    for nan_on_top in (True, False):
        for row in range(table.count):
            if meaning(predicate, table, row, nan_on_top=nan_on_top):
                assert verdict.rows is None or row in verdict.rows


def test_a_bitmap_names_the_very_rows() -> None:
    kind = ColumnType(ValueClass.INTEGER)
    table = Table({1: kind}, {1: [3, None, 5, 3]}, {1: "long"}, 4)
    indexes = indexes_of(table, {1: [Kind.BITMAP]}, 1)
    equal = Comparison(1, Operator.EQUAL, 3)
    cases: list[tuple[Predicate, list[int]]] = [
        (equal, [0, 3]),
        (Not(equal), [2]),
        (IsNull(1), [1]),
        (Not(IsNull(1)), [0, 2, 3]),
        (And((Comparison(1, Operator.GREATER, 2**70), Unknown())), []),
        (Not(Comparison(1, Operator.GREATER, 2**70)), [0, 2, 3]),
        (Comparison(1, Operator.EQUAL, 2.5), []),
        (Comparison(1, Operator.AT_LEAST, Decimal("4.5")), [2]),
    ]
    for predicate, rows in cases:
        verdict = probe(predicate, indexes, 4)
        assert verdict.rows is not None
        assert (list(verdict.rows), verdict.keep) == (rows, bool(rows))
        assert verdict.used == ((1, Kind.BITMAP),)


def test_what_no_index_answers_is_named_and_keeps_the_file() -> None:
    verdict = probe(Or((IsNull(9), Unknown("a function of the column"))), [], 4)
    assert verdict.keep
    assert verdict.unanswered == ("no index answers for field 9", "a function of the column")
    assert probe(And(()), [], 4).keep


def test_a_damaged_bitmap_inside_a_whole_blob_keeps_the_file() -> None:
    kind = ColumnType(ValueClass.INTEGER)
    expected = Expected(TABLE, 1, 5, 4, kind)
    builder = IndexBuilder(kind, Wanted(Kind.BITMAP))
    builder.add(values_of(kind, [3, 4, 5, 3]))
    built = builder.finish()
    assert isinstance(built, Built)
    damaged = replace(built, body=built.body[:-20] + b"\xff" * 20)
    read = opened(blob_of(damaged, expected), expected)
    assert isinstance(read, Opened)
    assert probe(Comparison(1, Operator.EQUAL, 5), [read], 4).keep
    cut = replace(built, body=built.body[:-20])
    assert opened(blob_of(cut, expected), expected) == Refusal.BODY


@pytest.mark.parametrize(
    ("leaf", "first"),
    [
        (Comparison(1, Operator.EQUAL, 5), Kind.BITMAP),
        (Comparison(1, Operator.LESS, 5), Kind.BITMAP),
        (Matches(1, contains("word")), Kind.WORD_BITMAP),
    ],
)
def test_the_most_exact_kind_is_looked_for_first(leaf: Leaf, first: Kind) -> None:
    assert useful_kinds(leaf)[0] == first
    assert list(leaves(Not(Or((leaf, And((leaf, Unknown()))))))) == [leaf, leaf]
