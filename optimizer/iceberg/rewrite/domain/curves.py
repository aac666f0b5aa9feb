"""Computes a row's key on a curve through all columns at once.

A row is a point: one id a column, each of `bits` bits. The Hilbert key follows J. Skilling,
"Programming the Hilbert curve" (AIP Conf. Proc. 707, 2004), for many points at a time; the Z-order
key is the ids' bits taken in turn. Which id a value has is the business of `boundaries`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from portal.lake.errors import RuleViolation

MOST_KEY_BITS = 63  # the key has to fit into a signed long
Ids = NDArray[np.uint32]
Keys = NDArray[np.int64]


def hilbert_keys(columns: Sequence[Ids], *, bits: int) -> Keys:
    """Return each point's distance along the Hilbert curve; with one column that is the id itself.

    The ids are not changed. Neighbours on the curve differ by one in one column.

    Raises:
        RuleViolation: `curve.bits`.
    """
    check_bits(len(columns), bits)
    if len(columns) == 1:
        return columns[0].astype(np.int64)
    axes = np.array(columns, dtype=np.uint32)  # a copy: what follows works in place
    for level in range(bits - 1, 0, -1):
        _turn(axes, level)
    _gray(axes, bits)
    return _interleaved(axes, bits)


def zorder_keys(columns: Sequence[Ids], *, bits: int) -> Keys:
    """Return each point's place on the Z-order curve; with one column that is the id itself.

    Raises:
        RuleViolation: `curve.bits`.
    """
    check_bits(len(columns), bits)
    return _interleaved(columns, bits)


def check_bits(n_columns: int, bits: int) -> None:
    """Refuse a key that has no column or does not fit into a long.

    Raises:
        RuleViolation: `curve.bits`.
    """
    if n_columns < 1 or bits < 1 or n_columns * bits > MOST_KEY_BITS:
        raise RuleViolation(
            "curve.bits",
            f"{n_columns} columns of {bits} bits make no key: it needs one column at least and "
            f"has {MOST_KEY_BITS} bits at most. Take fewer columns or fewer bits.",
            n_columns=n_columns,
            bits=bits,
        )


def _turn(axes: Ids, level: int) -> None:
    """Undo what one level of the curve does to all below it: mirror, or swap with the first."""
    below = np.uint32((1 << level) - 1)
    axes[0] ^= _ones_where_set(axes[0], level) & below
    for number in range(1, len(axes)):
        is_set = _ones_where_set(axes[number], level)
        swapped = (axes[0] ^ axes[number]) & below & ~is_set
        axes[0] ^= swapped | (below & is_set)
        axes[number] ^= swapped


def _gray(axes: Ids, bits: int) -> None:
    """Turn positions in each cell into steps along the curve, in place."""
    for number in range(1, len(axes)):
        axes[number] ^= axes[number - 1]
    mirrored = np.zeros_like(axes[-1])
    for level in range(bits - 1, 0, -1):
        mirrored ^= _ones_where_set(axes[-1], level) & np.uint32((1 << level) - 1)
    axes ^= mirrored


def _ones_where_set(axis: Ids, level: int) -> Ids:
    """Return a mask of all ones where the bit is set: a choice without branches."""
    return np.uint32(0) - ((axis >> np.uint32(level)) & np.uint32(1))


def _interleaved(axes: Ids | Sequence[Ids], bits: int) -> Keys:
    """Take the bits of all columns in turn, the highest and the first column first."""
    key = np.zeros(len(axes[0]), dtype=np.int64)
    for level in range(bits - 1, -1, -1):
        for axis in axes:
            key <<= np.int64(1)
            key |= (axis >> np.uint32(level)) & np.uint32(1)
    return key
