"""What a column looks like over the data files of a table, from samples of some of them.

How many files hold a value, and how many its least and greatest value let through, decide what an
index can save.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.indexes.domain.byte_strings import Words
from optimizer.indexes.domain.values import ColumnType, Values, order_numbers, value_hashes


@dataclass(frozen=True)
class FileSample:
    """A column in one data file, by some of its rows."""

    hashes: Words
    """Of the sampled values that are not null, with repeats."""
    low: int
    high: int
    """Least and greatest order number, of the file if known, else of the sample."""
    rows: int
    value_bytes: float


@dataclass(frozen=True)
class ColumnProfile:
    """A column over the data files that a query would choose from."""

    type: ColumnType
    files: int
    file_bytes: float
    rows_a_file: float
    distinct_a_file: float
    distinct: float
    let_through: float
    """The share of files whose least and greatest value let a random value through."""
    value_bytes: float = 8.0

    @property
    def holders(self) -> float:
        """How many files hold a random value of the column."""
        share = self.distinct_a_file / max(self.distinct, self.distinct_a_file, 1.0)
        return max(1.0, self.files * share)

    @property
    def opened_without(self) -> float:
        """How many files a look-up opens without an index."""
        return max(self.files * self.let_through, min(self.holders, self.files))


def sampled(values: Values, rows: int) -> FileSample | None:
    """Return the sample of a file of so many rows; None where all sampled values are null."""
    present = values.without_nulls()
    hashes = value_hashes(present)
    if not len(hashes):
        return None
    numbers = order_numbers(present) if present.type.has_order else hashes
    size = 8.0 if present.strings is None else float(present.strings.lengths.mean())
    return FileSample(hashes, int(numbers.min()), int(numbers.max()), rows, size)


def profile_of(
    kind: ColumnType, samples: Sequence[FileSample], *, files: int, file_bytes: float
) -> ColumnProfile | None:
    """Return the profile that some files' samples tell of `files` files; None without values."""
    if not samples:
        return None
    each = [distinct_values(one.hashes, one.rows) for one in samples]
    rows = float(np.mean([one.rows for one in samples]))
    whole = np.concatenate([one.hashes for one in samples])
    distinct = max(distinct_values(whole, round(rows * files)), *each)
    return ColumnProfile(
        kind,
        files,
        file_bytes,
        rows,
        float(np.mean(each)),
        distinct,
        _let_through(kind, samples),
        float(np.mean([one.value_bytes for one in samples])),
    )


def distinct_values(hashes: Words, rows: int) -> float:
    """Return how many distinct values so many rows have, by a sample of them.

    The estimate of Haas and Stokes ("Duj1"): values that were met once stand for those not met.
    """
    if not len(hashes):
        return 0.0
    counts = np.unique(hashes, return_counts=True)[1]
    met, once, size = len(counts), int((counts == 1).sum()), len(hashes)
    if size >= rows:
        return float(met)
    return min(met / (1 - (1 - size / rows) * once / size), float(rows))


def _let_through(kind: ColumnType, samples: Sequence[FileSample]) -> float:
    """Return the share of files through whose bounds the middle of another file's would pass."""
    if not kind.has_order or len(samples) < 2:
        return 1.0
    low = np.array([one.low for one in samples], np.uint64)
    high = np.array([one.high for one in samples], np.uint64)
    quarter = (high - low) // np.uint64(4)
    points = np.concatenate([low + quarter * np.uint64(times) for times in (1, 2, 3)])
    return float(np.mean((points[:, None] >= low) & (points[:, None] <= high)))
