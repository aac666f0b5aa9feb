"""Estimates what a task on an Iceberg table would read, write, remove and cost.

The size of delete files is not known from the statistics; they count as files that are opened.
"""

from collections.abc import Iterable
from math import ceil

from optimizer.core.domain.estimates import UNMEASURED, Estimate, Speed
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats

MANY_DELETED = 0.1  # share of a partition's rows from which on its files are rewritten


def estimate_partition(
    kind: TaskKind, stats: PartitionStats, *, target_bytes: int, speed: Speed
) -> Estimate:
    """Estimate one kind of rewrite of one partition, without the application's start."""
    n_read, bytes_read = _taken(kind, stats)
    kept = 1.0 - stats.deleted_share if _is_whole(kind, stats) else 1.0
    bytes_written = ceil(bytes_read * kept)
    n_opened = n_read + _n_delete_files(kind, stats)
    slower = speed.sort_factor if kind is TaskKind.CLUSTER else 1.0
    seconds = (
        slower * (bytes_read + bytes_written) / speed.bytes_per_second
        + n_opened * speed.seconds_per_file
    )
    return Estimate(
        n_read,
        bytes_read,
        ceil(bytes_written / target_bytes),
        bytes_written,
        _n_delete_files(kind, stats),
        n_read if kind is TaskKind.CLUSTER else 0,
        seconds,
        seconds * speed.memory_gb / 3600,
    )


def estimate_manifests(stats: TableStats, *, speed: Speed) -> Estimate:
    """Estimate a rewrite of a table's manifests: each is opened, no data is."""
    seconds = stats.n_manifests * speed.seconds_per_file
    return Estimate(seconds=seconds, gb_hours=seconds * speed.memory_gb / 3600)


def group_bytes(seconds: float | None, *, kind: TaskKind, speed: Speed | None, at_most: int) -> int:
    """Give the bytes of files that one commit may rewrite in so many seconds; None is no limit."""
    if seconds is None:
        return at_most
    known = speed or UNMEASURED
    slower = known.sort_factor if kind is TaskKind.CLUSTER else 1.0
    # Each byte is read and written.
    return max(1, min(at_most, int(seconds * known.bytes_per_second / (2 * slower))))


def estimate_statistics(stats: TableStats, *, speed: Speed) -> Estimate:
    """Estimate a count of the values of a table's columns: at most all of its bytes are read."""
    seconds = stats.n_bytes / speed.bytes_per_second + stats.n_files * speed.seconds_per_file
    return Estimate(
        bytes_read=stats.n_bytes, seconds=seconds, gb_hours=seconds * speed.memory_gb / 3600
    )


def estimate_index(stats: TableStats, *, speed: Speed) -> Estimate:
    """Estimate the indexes of a table: all of it is read once, later only what is new."""
    return Estimate() if stats.was_indexed else estimate_statistics(stats, speed=speed)


def estimate_task(
    kind: TaskKind, partitions: Iterable[PartitionStats], *, target_bytes: int, speed: Speed
) -> Estimate:
    """Estimate a rewrite of some partitions, without the application's start."""
    parts = (
        estimate_partition(kind, one, target_bytes=target_bytes, speed=speed) for one in partitions
    )
    return sum(parts, start=Estimate())


def _taken(kind: TaskKind, stats: PartitionStats) -> tuple[int, int]:
    if _is_whole(kind, stats):
        return stats.n_files, stats.n_bytes
    if kind in (TaskKind.MINOR, TaskKind.MAJOR):
        return stats.n_small, stats.small_bytes
    if kind is TaskKind.CLUSTER:
        return stats.n_not_laid_out, stats.n_bytes - stats.laid_out_bytes
    return 0, 0


def _is_whole(kind: TaskKind, stats: PartitionStats) -> bool:
    if kind is TaskKind.FULL:
        return True
    if kind is TaskKind.MAJOR:
        return stats.deleted_share > MANY_DELETED
    return kind is TaskKind.DELETES and stats.n_eq_delete_files > 0


def _n_delete_files(kind: TaskKind, stats: PartitionStats) -> int:
    if kind is TaskKind.DELETES:
        return stats.n_delete_files
    return stats.n_delete_files if _is_whole(kind, stats) else 0
