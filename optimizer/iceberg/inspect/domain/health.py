"""Scores the health of a table's files from 0 to 100, with the points that each part costs.

Each part takes its share of what the parts before it left, so no score leaves 0..100 and the points
lost add up to exactly what is missing. A partition is judged by its own files; a table by its
partitions, which weigh by their bytes, and then by its metadata. Points are counted in millionths:
sums of whole numbers do not depend on the order of ten thousand partitions.

How much a part can take, and when it takes all of it:

- small files (70 %): nearly every file would go in a bin-pack; a handful of them costs little.
- equality deletes (60 %): they mark 10 % of the rows, or there are 12 files of them.
- position deletes (40 %): they mark 20 % of the rows, or there are two files of them for each file
  of the target size. Deletion vectors count by their rows only: a data file has at most one.
- layout (40 %): no byte lies as the policy asks.
- skew (20 %): all bytes lie in files far above the target.
- manifests (15 %) and snapshots (10 %): a hundred times what a table of its size needs.

Nothing is divided by the number of small files alone: cutting the same bytes into more files never
raises a score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import floor, log
from typing import Any

from optimizer.core.domain.health import WHOLE, Deduction, Health, share_of, taken
from optimizer.iceberg.inspect.domain.health_words import (
    MANIFESTS_AT_LEAST,
    Part,
    packed_files,
    reason_of,
)
from optimizer.iceberg.inspect.domain.stats import BIG_ABOVE, PartitionStats, TableStats

_TAKES: Mapping[Part, float] = {
    Part.SMALL: 0.7,
    Part.EQUALITY: 0.6,
    Part.POSITION: 0.4,
    Part.LAYOUT: 0.4,
    Part.SKEW: 0.2,
    Part.MANIFESTS: 0.15,
    Part.SNAPSHOTS: 0.1,
}
_FEW_FILES = 4.0
_EQUALITY_SHARE, _EQUALITY_FILES = 0.1, 12
_POSITION_SHARE, _POSITION_FILES = 0.2, 2.0
_FILES_A_MANIFEST = 50
_SNAPSHOTS = 100
_FULL_TIMES = 100
_UNSUMMED = ("partition", "spec_id", "two_smallest_bytes", "squared_error", "newest_commit_at")
_SUMMED = tuple(one.name for one in fields(PartitionStats) if one.name not in _UNSUMMED)


def whole_points(points: Sequence[float]) -> list[int]:
    """Round deductions so that they and the rounded score add up to 100 (largest remainder)."""
    lost = floor(sum(points) + 0.5)
    whole = [floor(one) for one in points]
    by_remainder = sorted(range(len(points)), key=lambda n: (whole[n] - points[n], n))
    for n in by_remainder[: max(lost - sum(whole), 0)]:
        whole[n] += 1
    return whole


@dataclass(slots=True)
class LoginTally:
    """Adds partitions up one by one, so that a table is judged without holding all of them."""

    target_bytes: int
    wants_layout: bool
    n_partitions: int = 0
    n_to_pack: int = 0
    """Small files that packing would make fewer; one alone in its partition is not counted."""
    _weight: int = 0
    _n_packed: int = 0
    _lost: dict[Part, int] = field(default_factory=dict)
    _sums: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0))

    def add(self, stats: PartitionStats) -> Health:
        """Take one partition in, and give its own health."""
        health = partition_health(
            stats, target_bytes=self.target_bytes, wants_layout=self.wants_layout
        )
        weight = max(stats.n_bytes, 1)
        self.n_partitions += 1
        self._weight += weight
        self._n_packed += packed_files(stats, self.target_bytes)
        self.n_to_pack += stats.n_small if _fewer(stats, self.target_bytes) > 0 else 0
        for one in health.deductions:
            part = Part(one.part)
            self._lost[part] = self._lost.get(part, 0) + one.millionths * weight
        for name in _SUMMED:
            self._sums[name] += getattr(stats, name)
        return health

    @property
    def total(self) -> PartitionStats:
        """What can be added up over all partitions so far, as if they were one."""
        return PartitionStats("", **self._sums)

    def health(self, table: TableStats) -> Health:
        """Judge the table: the mean of its partitions by bytes, then its metadata."""
        total = self.total
        if not total.n_files and not total.n_delete_files:
            return Health(note="The table has no files: there is nothing to improve.")
        lost = {part: points // self._weight for part, points in self._lost.items()}
        needed = MANIFESTS_AT_LEAST + _ideal_files(total, self.target_bytes) / _FILES_A_MANIFEST
        upkeep = {
            Part.MANIFESTS: _too_many(table.n_manifests, needed),
            Part.SNAPSHOTS: _too_many(table.n_snapshots, _SNAPSHOTS),
        }
        lost |= taken(upkeep, _TAKES, of=WHOLE - sum(lost.values()))
        return _told(lost, total, table, target_bytes=self.target_bytes, n_packed=self._n_packed)


def partition_health(stats: PartitionStats, *, target_bytes: int, wants_layout: bool) -> Health:
    """Judge the files of one partition."""
    severities = {
        Part.SMALL: _small(stats, target_bytes),
        Part.EQUALITY: share_of(
            _ratio(stats.n_eq_deleted_rows, stats.n_rows) / _EQUALITY_SHARE,
            stats.n_eq_delete_files / _EQUALITY_FILES,
        ),
        Part.POSITION: share_of(
            _ratio(stats.n_pos_deleted_rows, stats.n_rows) / _POSITION_SHARE,
            (stats.n_pos_delete_files - stats.n_dvs)
            / (_POSITION_FILES * _ideal_files(stats, target_bytes)),
        ),
        Part.LAYOUT: 1 - _ratio(stats.laid_out_bytes, stats.n_bytes) if wants_layout else 0.0,
        # Small files are left out, or each would water down what the big ones cost.
        Part.SKEW: _ratio(
            BIG_ABOVE * target_bytes * stats.n_big, stats.n_bytes - stats.small_bytes
        ),
    }
    if not stats.n_files:
        severities = {part: severities[part] for part in (Part.EQUALITY, Part.POSITION)}
    lost, n_packed = taken(severities, _TAKES, of=WHOLE), packed_files(stats, target_bytes)
    return _told(lost, stats, TableStats(), target_bytes=target_bytes, n_packed=n_packed)


def _told(
    lost: Mapping[Part, int],
    stats: PartitionStats,
    table: TableStats,
    *,
    target_bytes: int,
    n_packed: int,
) -> Health:
    return Health(
        tuple(
            Deduction(
                part,
                lost[part],
                reason_of(part, stats, table, target_bytes=target_bytes, n_packed=n_packed),
            )
            for part in Part
            if lost.get(part)
        )
    )


def _small(stats: PartitionStats, target_bytes: int) -> float:
    """The share of files that packing the small ones would take away; a few weigh less."""
    fewer = _fewer(stats, target_bytes)
    if fewer <= 0:
        return 0.0
    return _ratio(fewer, stats.n_files) * fewer / (fewer + _FEW_FILES)


def _fewer(stats: PartitionStats, target_bytes: int) -> float:
    """How many files packing the small ones would take away."""
    return stats.n_small - max(1.0, stats.small_bytes / target_bytes)


def _ideal_files(stats: PartitionStats, target_bytes: int) -> float:
    return max(1.0, stats.n_bytes / target_bytes)


def _too_many(n: int, needed: float) -> float:
    return share_of(log(n / needed) / log(_FULL_TIMES)) if n > needed else 0.0


def _ratio(part: float, whole: float) -> float:
    """A share; something of nothing is all of it."""
    return min(1.0, part / whole) if whole else float(part > 0)
