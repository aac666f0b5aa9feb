"""Computes a row's key on its layout's curve, and which of n files the key belongs to.

The files are cut where a sample's keys say that each gets as many rows. A key that is more than a
file's worth by itself is spread over the files that are cut at it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.curves import Keys, check_bits, hilbert_keys, zorder_keys
from optimizer.iceberg.rewrite.domain.layouts import LayoutKind
from portal.lake.errors import RuleViolation

_CURVES = {LayoutKind.HILBERT: hilbert_keys, LayoutKind.ZORDER: zorder_keys}

Nulls = NDArray[np.integer[Any]]
Places = NDArray[np.intp]


class RowKeys:
    """Gives the keys of many rows at once by stored boundaries.

    Raises:
        RuleViolation: `layout.curve`, `curve.bits`.
    """

    def __init__(self, kind: LayoutKind, boundaries: Boundaries) -> None:
        if kind not in _CURVES:
            raise RuleViolation(
                "layout.curve",
                f"A layout of kind {kind} has no key; keys are for {' and '.join(_CURVES)}.",
                kind=kind,
            )
        check_bits(len(boundaries.columns), boundaries.bits)
        self.bits = boundaries.bits
        self._curve = _CURVES[kind]
        self._ranks = boundaries.ranks()

    def __call__(self, values: Sequence[NDArray[Any]], *, nulls: Nulls) -> Keys:
        """Return each row's key; bit i of its `nulls` says that column i is null."""
        some = bool(nulls.any())
        ids = [
            rank(column, is_null=(nulls >> number) & 1 == 1 if some else None)
            for number, (rank, column) in enumerate(zip(self._ranks, values, strict=True))
        ]
        return self._curve(ids, bits=self.bits)


def cut_points(keys: Keys, *, n_files: int) -> Keys:
    """Return the n - 1 keys at which files of as many rows each begin, from the keys of a sample.

    One key stands there several times if it fills several files; an empty sample cuts nothing.
    """
    if not len(keys):
        return keys
    places = np.arange(1, n_files) * len(keys) // n_files
    return np.sort(keys)[places]


def places_of(keys: Keys, cuts: Keys) -> Places:
    """Return the number of the file, from 0, that each row goes into; the same at every try."""
    places = np.searchsorted(cuts, keys, side="right")
    if len(cuts) and (cuts[1:] == cuts[:-1]).any():
        n_cuts = places - np.searchsorted(cuts, keys, side="left")
        heavy = np.flatnonzero(n_cuts > 1)
        places[heavy] -= np.arange(len(heavy)) % n_cuts[heavy]
    return places
