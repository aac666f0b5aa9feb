"""Star-trees: equal to brute force for random trees, filters and groups, by the rule of masks."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.cubes.domain.star_tree import (
    STAR,
    Ints,
    StarRows,
    TreeShape,
    choose_max_leaf,
    n_rows_of,
    order_of,
    read_by,
    shape_within,
    split,
)

NULL = 0
"""NULL is a code like any other."""


def _cube(rng: np.random.Generator, cardinalities: list[int], n: int) -> tuple[Ints, Ints]:
    drawn = np.stack([rng.integers(0, c, n) for c in cardinalities], axis=1).astype(np.int64)
    codes = np.unique(drawn, axis=0)
    return codes, rng.integers(-100, 100, len(codes))


def _answer(
    codes: Ints, values: Iterable[int], filters: dict[int, set[int]], groups: list[int]
) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for row, value in zip(codes.tolist(), values, strict=True):
        if all(row[d] in wanted for d, wanted in filters.items()):
            found[tuple(row[d] for d in groups)] += value
            found[*(row[d] for d in groups), 10**6] += 1  # that it is there at all
    return found


def _values(rows: StarRows, values: Ints) -> list[int]:
    return np.add.reduceat(values[rows.members], rows.starts[:-1]).tolist() if len(rows) else []


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_any_query_equals_brute_force(data: st.DataObject) -> None:
    n_dimensions = data.draw(st.integers(1, 8))
    cardinalities = data.draw(
        st.lists(st.integers(1, 9), min_size=n_dimensions, max_size=n_dimensions)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes, values = _cube(rng, cardinalities, data.draw(st.integers(0, 400)))
    inside = [d for d in range(n_dimensions) if data.draw(st.booleans())]
    skipped = frozenset(d for d in inside if data.draw(st.integers(0, 4)) == 0)
    max_leaf = data.draw(st.sampled_from([1, 2, 5, 10, 100, 1000]))
    rows = split(codes, TreeShape(order_of(codes, inside), max_leaf, skipped))
    summed = np.array(_values(rows, values))
    for _ in range(5):
        filters = {
            d: set(rng.integers(0, c, 3).tolist())
            for d, c in enumerate(cardinalities)
            if rng.random() < 0.3
        }
        groups = [d for d in range(n_dimensions) if rng.random() < 0.3]
        used = sum(1 << d for d in {*filters, *groups})
        read = np.array(list(read_by(rows, used)), dtype=np.int64)
        assert all((rows.codes[read][:, d] != STAR).all() for d in {*filters, *groups})
        sizes = np.diff(rows.starts)[read]
        mine = _answer(rows.codes[read], summed[read].tolist(), filters, groups)
        right = _answer(codes, values.tolist(), filters, groups)
        assert {k: v for k, v in mine.items() if k[-1:] != (10**6,)} == {
            k: v for k, v in right.items() if k[-1:] != (10**6,)
        }
        assert sizes.sum() == len(codes)  # each base row is counted once


@given(st.integers(0, 2**32), st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_dimensions_outside_the_tree_are_never_starred(seed: int, max_leaf: int) -> None:
    codes, _ = _cube(np.random.default_rng(seed), [7, 5, 3], 80)
    rows = split(codes, TreeShape((0, 1), max_leaf, frozenset({1})))
    assert not (rows.star & 0b110).any()
    assert not (rows.has & 0b110).any()
    assert ((rows.codes == STAR).any(axis=1) == (rows.star != 0)).all()


def test_without_a_tree_the_rows_are_the_cube() -> None:
    codes, _ = _cube(np.random.default_rng(1), [5, 5], 20)
    rows = split(codes, TreeShape((), 10))
    assert (rows.codes == codes).all()
    assert not rows.star.any()
    assert not rows.has.any()
    assert len(split(codes[:0], TreeShape((0,), 1))) == 0


def test_storage_and_rows_read_stay_at_the_figures_of_the_cube_of_35_thousand_groups() -> None:
    rng = np.random.default_rng(7)
    codes, _ = _cube(rng, [40, 25, 7, 5], 2_000_000)
    assert len(codes) > 34_800
    order = order_of(codes, [0, 1, 2, 3])
    assert order == (0, 1, 2, 3)
    storage = {}
    for max_leaf in (100, 10, 1):
        n_rows = n_rows_of(codes, TreeShape(order, max_leaf))
        assert n_rows is not None
        storage[max_leaf] = n_rows / len(codes)
    assert storage[100] <= 1.10
    assert storage[10] <= 1.46
    assert storage[1] <= 1.465


@pytest.mark.parametrize(("budget", "max_leaf"), [(1.5, 10), (1.15, 100), (1.0, None)])
def test_the_leaf_is_the_smallest_that_a_storage_budget_allows(
    budget: float, max_leaf: int | None
) -> None:
    codes, _ = _cube(np.random.default_rng(3), [40, 25, 7, 5], 200_000)
    shape = TreeShape(order_of(codes, [0, 1, 2, 3]), 10)
    assert choose_max_leaf(codes, shape, budget=budget, leaves=(10, 100, 1000)) == max_leaf
    assert n_rows_of(codes, shape, most=10) is None


@pytest.mark.parametrize("budget", [1.05, 1.2, 1.6, 3.0])
def test_a_tree_within_its_budget_is_equal_to_brute_force_and_no_larger(budget: float) -> None:
    codes, _ = _cube(np.random.default_rng(5), [9, 6, 4], 400)
    shape = shape_within(codes, TreeShape(order_of(codes, [0, 1, 2]), 1), budget)
    rows = split(codes, shape)
    assert len(rows) <= budget * len(codes)
    for used in range(8):
        read = list(read_by(rows, used))
        members = np.concatenate([rows.members[rows.starts[n] : rows.starts[n + 1]] for n in read])
        assert sorted(members) == list(range(len(codes)))
    assert shape_within(codes, shape, None) is shape
    # The definition's own leaf is the smallest that is taken.
    large = shape_within(codes, TreeShape(shape.order, 300), 90.0)
    assert large.max_leaf == 300


@pytest.mark.parametrize("max_leaf", [1, 4, 30])
def test_codes_too_large_for_one_key_give_the_same_tree(max_leaf: int) -> None:
    rng = np.random.default_rng(max_leaf)
    codes, _ = _cube(rng, [5, 4, 6], 90)
    shape = TreeShape((2, 0, 1), max_leaf)
    assert _members(split(codes, shape)) == _members(split(codes * (1 << 40), shape))


def _members(rows: StarRows) -> Counter[tuple[int, ...]]:
    return Counter(
        (int(star), int(has), *sorted(rows.members[start:end].tolist()))
        for star, has, start, end in zip(
            rows.star, rows.has, rows.starts[:-1], rows.starts[1:], strict=True
        )
    )


@pytest.mark.parametrize("max_leaf", [1, 4, 200])
def test_rows_are_counted_up_to_a_limit(max_leaf: int) -> None:
    codes, _ = _cube(np.random.default_rng(3), [5, 4, 6], 90)
    shape = TreeShape((2, 0, 1), max_leaf)
    n = len(split(codes, shape))
    assert n_rows_of(codes, shape, most=n) == n
    assert n_rows_of(codes, shape, most=n - 1) is None
