"""The curves: every point has its own key, and neighbours on the Hilbert curve touch."""

import hashlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.rewrite.domain.curves import Ids, hilbert_keys, zorder_keys
from portal.lake.errors import RuleViolation

GRIDS = [(1, 5), (2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 1), (4, 2), (4, 3), (5, 2)]
# sha256 of the distances (little-endian longs) of all points of the grid, last column fastest,
# as the package hilbertcurve 2.0.5 gives them; it has had no release since 2021, so it is not
# installed here.
OF_HILBERTCURVE = {
    (2, 1): "92dd7580bfd5a67a",
    (2, 3): "95a7a9b3f902c1f3",
    (2, 5): "f4b04276bdadd198",
    (3, 2): "a5a3e49b60430ba3",
    (3, 3): "b4da229a1b159620",
    (4, 2): "610ddb6119afb8cf",
    (4, 3): "878eb2e9a606b8b9",
}


def grid(n: int, bits: int) -> list[Ids]:
    axes = np.indices((2**bits,) * n).reshape(n, -1)
    return list(axes.astype(np.uint32))


def slow_hilbert(point: tuple[int, ...], bits: int) -> int:
    """AxestoTranspose of Skilling's paper, line by line, then the transposed bits read off."""
    x = list(point)
    q = 1 << (bits - 1)
    while q > 1:
        p = q - 1
        for i in range(len(x)):
            if x[i] & q:
                x[0] ^= p
            else:
                t = (x[0] ^ x[i]) & p
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, len(x)):
        x[i] ^= x[i - 1]
    t = 0
    q = 1 << (bits - 1)
    while q > 1:
        if x[-1] & q:
            t ^= q - 1
        q >>= 1
    return slow_zorder(tuple(axis ^ t for axis in x), bits)


def slow_zorder(point: tuple[int, ...], bits: int) -> int:
    text = "".join(str(axis >> level & 1) for level in range(bits - 1, -1, -1) for axis in point)
    return int(text, 2)


@pytest.mark.parametrize(("n", "bits"), GRIDS)
def test_every_point_of_a_grid_has_its_own_key(n: int, bits: int) -> None:
    for keys in (hilbert_keys, zorder_keys):
        found = keys(grid(n, bits), bits=bits)
        assert found.dtype == np.int64
        assert np.array_equal(np.sort(found), np.arange(2 ** (n * bits)))


@pytest.mark.parametrize(("n", "bits"), GRIDS)
def test_neighbours_on_the_hilbert_curve_differ_by_one_in_one_column(n: int, bits: int) -> None:
    points = np.array(grid(n, bits), dtype=np.int64)
    along = points[:, np.argsort(hilbert_keys(grid(n, bits), bits=bits))]
    steps = np.abs(np.diff(along, axis=1))
    assert (steps.sum(axis=0) == 1).all()


@pytest.mark.parametrize(("n", "bits"), GRIDS)
def test_the_keys_are_those_of_the_paper(n: int, bits: int) -> None:
    points = list(product(range(2**bits), repeat=n))
    if n > 1:
        wanted = [slow_hilbert(point, bits) for point in points]
        assert hilbert_keys(grid(n, bits), bits=bits).tolist() == wanted
    wanted = [slow_zorder(point, bits) for point in points]
    assert zorder_keys(grid(n, bits), bits=bits).tolist() == wanted


@pytest.mark.parametrize(("n", "bits"), OF_HILBERTCURVE)
def test_the_keys_are_those_of_the_package_hilbertcurve(n: int, bits: int) -> None:
    found = hilbert_keys(grid(n, bits), bits=bits).astype("<i8").tobytes()
    assert hashlib.sha256(found).hexdigest()[:16] == OF_HILBERTCURVE[n, bits]


@given(st.data())
def test_wide_keys_are_right_up_to_the_last_of_63_bits(data: st.DataObject) -> None:
    n, bits = data.draw(st.sampled_from([(2, 31), (3, 21), (4, 15), (7, 9), (9, 7)]))
    axis = st.integers(0, 2**bits - 1) | st.just(2**bits - 1)
    points = data.draw(st.lists(st.tuples(*[axis] * n), min_size=1, max_size=20))
    columns = [np.array(axis, dtype=np.uint32) for axis in zip(*points, strict=True)]
    before = [column.copy() for column in columns]
    wanted = [slow_hilbert(point, bits) for point in points]
    assert hilbert_keys(columns, bits=bits).tolist() == wanted
    assert zorder_keys(columns, bits=bits).tolist() == [slow_zorder(p, bits) for p in points]
    assert all(map(np.array_equal, columns, before))


def test_one_column_is_its_own_curve() -> None:
    ids = np.array([5, 0, 2**31, 7], dtype=np.uint32)
    assert hilbert_keys([ids], bits=32).tolist() == ids.tolist()
    assert zorder_keys([ids], bits=32).tolist() == ids.tolist()


def test_no_rows_make_no_keys() -> None:
    none = np.array([], dtype=np.uint32)
    assert hilbert_keys([none, none], bits=10).tolist() == []


@pytest.mark.parametrize(("n", "bits"), [(0, 10), (1, 0), (4, 16), (64, 1)])
def test_a_key_that_does_not_fit_is_refused(n: int, bits: int) -> None:
    columns = [np.zeros(1, dtype=np.uint32)] * n
    for keys in (hilbert_keys, zorder_keys):
        with pytest.raises(RuleViolation, match="bits") as refused:
            keys(columns, bits=bits)
        assert refused.value.code == "curve.bits"
