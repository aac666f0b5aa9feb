"""Tests the sums over recorded queries: filters by column, uses for indexes, and groupings."""

import pytest

from optimizer.advice.domain.asked import Aggregate, Asked, asked_in
from optimizer.advice.domain.filters import FilterKind
from optimizer.advice.domain.workload import (
    MOST_GROUPINGS,
    Grouping,
    TableWorkload,
    grouping_of,
    main_uses,
)
from optimizer.indexes.domain.choice.kinds import Use
from optimizer.pruning.domain.uses import Names


def asked(where: str, select: str = "*", group: str = "") -> Asked:
    sql = f"SELECT {select} FROM d.t WHERE {where}{group and f' GROUP BY {group}'}"
    (found,) = asked_in(sql, "trino", Names(), {})
    return found


def test_filters_are_summed_by_column_and_kind_the_dearest_first() -> None:
    load = TableWorkload()
    load.add(asked("a = 1 AND b > 2"), cost=10, n=2)
    load.add(asked("a IN (1, 2)"), cost=1)
    load.add(asked("b < 9 AND c LIKE '%x%'"), cost=5)
    found = load.filtered()
    assert list(found) == ["b", "a", "c"]
    assert {kind.value: (one.n, one.cost) for kind, one in found["a"].items()} == {
        "=": (2, 10.0),
        "IN": (1, 1.0),
    }
    assert (load.all.n, load.all.cost) == (4, 16.0)


def test_a_use_that_is_seldom_asks_for_no_index() -> None:
    load = TableWorkload()
    load.add(asked("a = 1"), cost=96)
    load.add(asked("a > 1"), cost=4)
    load.add(asked("b IS NULL"), cost=99)
    load.add(asked("b LIKE 'x%'"), cost=1)
    assert load.uses("a") == {Use.POINT}
    assert load.uses("a", least=0.01) == {Use.POINT, Use.RANGE}
    assert load.uses("b") == frozenset()
    assert load.uses("unknown") == frozenset()


@pytest.mark.parametrize(
    ("weights", "uses"),
    [
        ({FilterKind.EQUAL: 9, FilterKind.RANGE: 5, FilterKind.CONTAINS: 8}, "point range"),
        ({FilterKind.EQUAL: 9, FilterKind.CONTAINS: 10, FilterKind.PREFIX: 1}, "part"),
        ({FilterKind.DYNAMIC: 2, FilterKind.CONTAINS: 2}, "point"),
        ({FilterKind.NULL: 99, FilterKind.CONTAINS: 1}, ""),
        ({}, ""),
    ],
)
def test_one_index_is_asked_by_values_or_by_parts(
    weights: dict[FilterKind, float], uses: str
) -> None:
    assert sorted(main_uses(weights)) == uses.split()


def test_groupings_say_what_a_cube_would_hold() -> None:
    found = grouping_of(asked("day > 5 AND city = 'x'", "city, sum(p), count(*)", "city"))
    small = grouping_of(asked("day > 7", "count(*)"))
    assert found == Grouping(
        frozenset({"city", "day"}), frozenset({Aggregate("sum", "p"), Aggregate("count", "*")})
    )
    assert small is not None
    assert found.holds(small)
    assert not small.holds(found)


def test_what_no_cube_answers_is_no_grouping() -> None:
    assert grouping_of(asked("a = 1")) is None
    assert grouping_of(asked("a = 1", "sum(p * 2)")) is None
    assert grouping_of(asked("note LIKE '%x%'", "sum(p)")) is None


def test_groupings_stay_few_and_the_dear_ones_stay() -> None:
    load = TableWorkload()
    for number in range(5 * MOST_GROUPINGS):
        load.add(asked(f"c{number} = 1", "sum(p)"), cost=1)
        load.add(asked("dear = 1", "sum(p)"), cost=3)
    found = load.groupings()
    assert len(found) == MOST_GROUPINGS
    assert found[0][0].dimensions == {"dear"}
    assert found[0][1].cost - found[0][1].too_much <= 3 * 5 * MOST_GROUPINGS <= found[0][1].cost
