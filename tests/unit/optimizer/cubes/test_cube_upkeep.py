"""Coverage composed anew: overlaps, rewrites, joined tables of other snapshots."""

from dataclasses import replace

import pytest

from optimizer.cubes.domain.coverage import Bound, Coverage, CoveredFile, JoinedTable
from optimizer.cubes.domain.upkeep import Merge, NewUnit, Replacement, View, composed, mergeable
from portal.lake.errors import StaleState

A, B, C, D = (CoveredFile(name, 10) for name in "abcd")
VIEW = View(1, "u", 7, [A, B, C], {"p": JoinedTable("v", (5,))})


def _two() -> Coverage:
    new = [NewUnit(1, (A,), 10), NewUnit(2, (B,), 10)]
    return composed(None, VIEW, add=new, bounds={"m": Bound(4)})


def test_units_are_judged_at_the_snapshot_of_the_run() -> None:
    found = _two()
    assert [(one.number, one.is_live) for one in found.units] == [(1, True), (2, True)]
    assert (found.at_snapshot.covered_rows, found.at_snapshot.uncovered_rows) == (20, 10)
    later = composed(found, replace(VIEW, snapshot_id=8, live=[A, replace(B, deletes="x")]))
    assert [one.is_live for one in later.units] == [True, False]


def test_a_file_that_another_builder_had_first_is_counted_once() -> None:
    found = composed(_two(), VIEW, add=[NewUnit(3, (A,), 10), NewUnit(4, (C,), 10)])
    assert [one.number for one in found.units] == [1, 2, 4]
    assert not found.exact
    assert composed(_two(), VIEW, add=[NewUnit(4, (C,), 10)]).exact


def test_bounds_only_grow() -> None:
    found = composed(_two(), VIEW, bounds={"m": Bound(3, negative_zero=True)}, drop=[1])
    assert found.bounds == {"m": Bound(4, negative_zero=True)}
    assert not found.exact


def test_snapshots_of_joined_tables_add_up_only_where_nothing_new_was_read() -> None:
    moved = replace(
        VIEW, joined={"p": JoinedTable("v", (9,))}, checked={"p": JoinedTable("v", (5,))}
    )
    assert composed(_two(), moved).joined["p"].snapshot_ids == (5, 9)
    built = composed(_two(), moved, add=[NewUnit(4, (C,), 10)])
    assert built.joined["p"].snapshot_ids == (9,)
    with pytest.raises(StaleState):
        composed(built, VIEW)
    with pytest.raises(StaleState):
        composed(_two(), replace(VIEW, joined={"p": JoinedTable("other", (5,))}))


def test_units_are_merged_where_only_whole_ones_went_and_rows_add_up() -> None:
    found = _two()
    whole = Replacement((A, B), (CoveredFile("ab", 20),))
    assert mergeable(found, [whole]) == [Merge((1, 2), whole.added, 20)]
    again = Replacement(whole.added, (CoveredFile("x", 12), CoveredFile("y", 8)))
    assert mergeable(found, [whole, again]) == [Merge((1, 2), again.added, 20)]
    for removed, added in (
        ((A, B), (CoveredFile("ab", 19),)),  # rows are missing
        ((A, B, D), (CoveredFile("ab", 20),)),  # one is of no unit
        ((A, B), ()),
    ):
        assert mergeable(found, [Replacement(removed, added)]) == []
    pair = composed(None, VIEW, add=[NewUnit(1, (A, B), 20)])
    assert mergeable(pair, [Replacement((A,), (CoveredFile("a2", 20),))]) == []


def test_a_unit_of_a_snapshot_that_was_rolled_back_is_not_merged() -> None:
    # Its file came back without the deletes of then, lost other rows, and has as many as then.
    found = composed(_two(), replace(VIEW, snapshot_id=8, live=[replace(A, deletes="x"), B]))
    whole = Replacement((A, B), (CoveredFile("ab", 20),))
    assert mergeable(found, [whole]) == []
