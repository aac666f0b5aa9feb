"""Statistics of an Iceberg table's files for decisions, taken without reading any data.

The numbers are counted by the observing job from metadata only. "Small" is below 0.75 of the
target size and "big" above 1.8 of it: the bounds that Iceberg's own planner uses.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

SMALL_BELOW = 0.75
BIG_ABOVE = 1.8


@dataclass(frozen=True, slots=True)
class PartitionStats:
    """The files of one partition under one spec; `partition` is Iceberg's own path, '' if none.

    `squared_error` is the mean of ((target - size) / target)^2 over the files below the target.
    Deletion vectors are counted in `n_pos_delete_files` as well as in `n_dvs`.
    """

    partition: str
    spec_id: int = 0
    n_files: int = 0
    n_bytes: int = 0
    n_rows: int = 0
    n_small: int = 0
    small_bytes: int = 0
    n_big: int = 0
    two_smallest_bytes: int = 0
    n_pos_delete_files: int = 0
    n_pos_deleted_rows: int = 0
    n_eq_delete_files: int = 0
    n_eq_deleted_rows: int = 0
    n_dvs: int = 0
    squared_error: float = 0.0
    n_laid_out: int = 0
    laid_out_bytes: int = 0
    newest_commit_at: datetime | None = None

    @property
    def n_delete_files(self) -> int:
        """Delete files of every kind."""
        return self.n_pos_delete_files + self.n_eq_delete_files

    @property
    def deleted_share(self) -> float:
        """Share of the rows that position deletes mark, at most 1."""
        return min(1.0, self.n_pos_deleted_rows / self.n_rows) if self.n_rows else 0.0

    @property
    def n_not_laid_out(self) -> int:
        """Files that do not lie as the policy asks."""
        return self.n_files - self.n_laid_out


@dataclass(frozen=True, slots=True)
class TableStats:
    """The whole table: its current files, and the metadata that grows with every commit."""

    n_files: int = 0
    n_bytes: int = 0
    n_rows: int = 0
    n_delete_files: int = 0
    n_manifests: int = 0
    n_snapshots: int = 0
    n_partitions: int = 0
    format_version: int = 2
    is_indexed: bool = False  # every file has what the policy asks for, or cannot have it
    was_indexed: bool = False  # an earlier snapshot was
    n_cubes_behind: int = 0  # cubes of another snapshot, or of another definition


def partition_stats(
    partition: str, sizes: Iterable[int], *, target_bytes: int, n_rows: int = 0, spec_id: int = 0
) -> PartitionStats:
    """Count one partition without delete files from the sizes of its data files."""
    ordered = sorted(sizes)
    small = [size for size in ordered if size < SMALL_BELOW * target_bytes]
    errors = [
        ((target_bytes - size) / target_bytes) ** 2 for size in ordered if size < target_bytes
    ]
    return PartitionStats(
        partition,
        spec_id,
        n_files=len(ordered),
        n_bytes=sum(ordered),
        n_rows=n_rows,
        n_small=len(small),
        small_bytes=sum(small),
        n_big=sum(size > BIG_ABOVE * target_bytes for size in ordered),
        two_smallest_bytes=sum(ordered[:2]),
        squared_error=sum(errors) / len(errors) if errors else 0.0,
    )
