"""Roaring bitmaps from numpy's row numbers, and to and from the portable format."""

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap


def bitmap_of(rows: NDArray[Any]) -> BitMap:
    """Return the bitmap of these row numbers.

    By way of `array`, which pyroaring takes in one piece; numpy's own it would take one by one.
    Without runs, which `packed` finds at the end: found in parts, a tie of lengths keeps them, and
    the same rows would have other bytes.
    """
    return BitMap(array("I", rows.astype(np.uint32).tobytes()), optimize=False)


def packed(bitmap: BitMap) -> bytes:
    """Return the bytes of a bitmap, as short as runs make them."""
    bitmap.run_optimize()
    return bitmap.serialize()


def unpacked(data: bytes, rows: int) -> BitMap:
    """Return the bitmap of these bytes.

    Raises:
        ValueError: When the bytes are no bitmap, or hold a row that the data file has not.
    """
    bitmap = BitMap.deserialize(data)
    if bitmap and bitmap.max() >= rows:
        raise ValueError("a row behind the last")
    return bitmap
