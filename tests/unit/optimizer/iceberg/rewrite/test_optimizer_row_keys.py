"""Keys of rows: nearer by all columns is nearer by key, and the files get as many rows each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.rewrite.domain.boundaries import Boundaries, ColumnBoundaries
from optimizer.iceberg.rewrite.domain.curves import hilbert_keys
from optimizer.iceberg.rewrite.domain.layouts import LayoutKind
from optimizer.iceberg.rewrite.domain.row_keys import RowKeys, cut_points, places_of
from optimizer.iceberg.rewrite.domain.value_forms import Form
from portal.lake.errors import RuleViolation

NO_NULLS = np.zeros(1, dtype=np.int32)


def boundaries(*samples: list[int], bits: int = 10) -> Boundaries:
    columns = (
        ColumnBoundaries.of_sample(f"c{number}", Form.WHOLE, np.array(sample, dtype=np.int64))
        for number, sample in enumerate(samples)
    )
    return Boundaries(tuple(columns), bits)


def test_a_key_is_the_curve_through_the_ids() -> None:
    by = boundaries([10, 20, 30], [-1, 1], bits=4)
    keys = RowKeys(LayoutKind.HILBERT, by)
    first, second = np.array([10, 30, 5]), np.array([1, 0, -9])
    ids = [np.array([5, 15, 0], dtype=np.uint32), np.array([15, 7, 0], dtype=np.uint32)]
    wanted = hilbert_keys(ids, bits=4).tolist()
    assert keys([first, second], nulls=np.zeros(3, dtype=np.int32)).tolist() == wanted


def test_a_null_in_one_column_leaves_the_others_alone() -> None:
    keys = RowKeys(LayoutKind.ZORDER, boundaries([1, 2, 3], [1, 2, 3], bits=2))
    nulls = np.array([0, 1, 2, 3])
    columns = [np.array([3, 3, 3, 3]), np.array([3, 3, 3, 3])]
    assert keys(columns, nulls=nulls).tolist() == [0b1111, 0b0101, 0b1010, 0]


def test_a_sort_has_no_key_and_too_many_bits_are_refused() -> None:
    with pytest.raises(RuleViolation, match="sort has no key"):
        RowKeys(LayoutKind.SORT, boundaries([1]))
    with pytest.raises(RuleViolation, match="63 bits"):
        RowKeys(LayoutKind.HILBERT, boundaries([1], [1], [1], [1], bits=16))


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 12))
def test_files_follow_each_other_along_the_curve(rows: list[int], n_files: int) -> None:
    keys = np.array(rows, dtype=np.int64)
    cuts = cut_points(keys, n_files=n_files)
    places = places_of(keys, cuts)
    assert ((places >= 0) & (places < n_files)).all()
    assert places.tolist() == places_of(keys, cuts).tolist()
    for place in range(n_files - 1):
        here, later = keys[places <= place], keys[places > place]
        if len(here) and len(later):
            assert here.max() <= later.min()


def test_files_get_as_many_rows_each() -> None:
    keys = np.random.default_rng(3).integers(0, 2**40, 100_000)
    places = places_of(keys, cut_points(keys, n_files=16))
    rows = np.bincount(places, minlength=16)
    assert rows.min() >= 6249
    assert rows.max() <= 6251


def test_one_key_for_most_rows_is_spread_over_its_files() -> None:
    keys = np.full(100_000, 77)
    keys[:5000] = np.arange(5000) % 70
    rows = np.bincount(places_of(keys, cut_points(keys, n_files=10)), minlength=10)
    assert rows.max() <= 12_000
    same = np.full(1000, 5)
    rows = np.bincount(places_of(same, cut_points(same, n_files=8)), minlength=8)
    assert rows.max() <= 150


def test_without_a_sample_everything_is_one_file() -> None:
    none = cut_points(np.array([], dtype=np.int64), n_files=5)
    assert places_of(np.array([1, 9]), none).tolist() == [0, 0]
