"""Generates the commits of a fleet of tables in one day; the same seed gives the same commits.

Five ways to write, as lakes have them: streams that commit each minute or two, micro-batches,
hourly and daily loads, and merges that change files as well as add some.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MB = 1024**2
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Writer:
    """One way to write; `every` in seconds, sizes lognormal around a median."""

    name: str
    share: float
    every: float
    files: tuple[int, int]
    median_mb: float
    partition_seconds: float
    is_merge: bool = False


WRITERS = (
    Writer("stream", 0.05, 85.0, (1, 4), 1.0, 3600.0),
    Writer("micro-batch", 0.25, 850.0, (1, 5), 6.0, DAY / 4),
    Writer("hourly", 0.40, 3600.0, (3, 10), 20.0, DAY),
    Writer("daily", 0.20, DAY / 2, (20, 80), 100.0, DAY),
    Writer("merge", 0.10, 600.0, (1, 3), 2.0, 0.0, is_merge=True),
)
BUCKETS = 8  # partitions of a table that is merged into
SPREAD = 0.6


@dataclass(frozen=True, slots=True)
class History:
    """Commits in order of time; the files of commit n are sizes[first[n]:first[n + 1]]."""

    at: Floats
    table: Ints
    partition: Ints
    first: Ints
    sizes: Ints
    writer: Ints  # of each table

    @property
    def n_commits(self) -> int:
        """How many commits there are."""
        return len(self.at)

    @property
    def n_tables(self) -> int:
        """How many tables there are."""
        return len(self.writer)


def generate(*, n_tables: int, seconds: float, seed: int) -> History:
    """Generate the commits of a fleet."""
    rng = np.random.default_rng(seed)
    writer = rng.choice(len(WRITERS), size=n_tables, p=[one.share for one in WRITERS])
    parts = [_times(WRITERS[kind], table, seconds, rng) for table, kind in enumerate(writer)]
    at = np.concatenate([times for times, _ in parts])
    table = np.concatenate([owner for _, owner in parts])
    order = np.argsort(at, kind="stable")
    at, table = at[order], table[order]
    kinds = writer[table]
    low = np.array([one.files[0] for one in WRITERS])[kinds]
    high = np.array([one.files[1] for one in WRITERS])[kinds]
    counts = rng.integers(low, high + 1)
    first = np.concatenate([[0], np.cumsum(counts)])
    medians = np.array([one.median_mb * MB for one in WRITERS])[np.repeat(kinds, counts)]
    sizes = np.exp(rng.normal(np.log(medians), SPREAD)).astype(np.int64) + 1
    spans = np.array([one.partition_seconds or 1.0 for one in WRITERS])[kinds]
    merges = np.array([one.is_merge for one in WRITERS])[kinds]
    buckets = rng.integers(0, BUCKETS, size=len(at))
    partition = np.where(merges, buckets, (at // spans).astype(np.int64))
    return History(at, table, partition, first, sizes, writer)


def _times(
    writer: Writer, table: int, seconds: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    n_most = int(seconds / writer.every * 1.5) + 20
    if writer.name == "stream":
        gaps = rng.exponential(writer.every, n_most)
    else:
        gaps = writer.every * rng.uniform(0.85, 1.15, n_most)
    at = np.cumsum(gaps) - gaps[0] * rng.uniform()
    at = at[at < seconds]
    return at, np.full(len(at), table)
