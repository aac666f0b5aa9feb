"""Names the parts that can cost a table health points, and words the reason of each."""

from enum import StrEnum
from math import ceil

from optimizer.core.domain.sizes import size_words
from optimizer.iceberg.inspect.domain.stats import (
    BIG_ABOVE,
    SMALL_BELOW,
    PartitionStats,
    TableStats,
)

MANIFESTS_AT_LEAST = 20


class Part(StrEnum):
    """What can cost points, in the order in which it is judged."""

    SMALL = "small files"
    EQUALITY = "equality deletes"
    POSITION = "position deletes"
    LAYOUT = "layout"
    SKEW = "skew"
    MANIFESTS = "manifests"
    SNAPSHOTS = "snapshots"


def packed_files(stats: PartitionStats, target_bytes: int) -> int:
    """Return about how many files the small ones of a partition would be if they were packed."""
    return max(1, ceil(stats.small_bytes / target_bytes)) if stats.n_small else 0


def reason_of(
    part: Part, stats: PartitionStats, table: TableStats, *, target_bytes: int, n_packed: int
) -> str:
    """Say why a part costs points; `n_packed` of the partitions that `stats` sums up."""
    target = size_words(target_bytes)
    match part:
        case Part.SMALL:
            return (
                f"{stats.n_small:,} of {_files(stats)} are below {SMALL_BELOW:.0%} of the target "
                f"{target}; packed they would be about {n_packed:,}."
            )
        case Part.EQUALITY:
            return (
                f"{_n(stats.n_eq_delete_files, 'equality delete file')} with "
                f"{_n(stats.n_eq_deleted_rows, 'row')} must be joined to the data at each read "
                f"({_n(stats.n_rows, 'row')} of data)."
            )
        case Part.POSITION:
            return _position(stats)
        case Part.LAYOUT:
            return (
                f"{stats.n_not_laid_out:,} of {_files(stats)} "
                f"({size_words(stats.n_bytes - stats.laid_out_bytes)} of "
                f"{size_words(stats.n_bytes)}) are not sorted as configured."
            )
        case Part.SKEW:
            return (
                f"{stats.n_big:,} of {_files(stats)} are above {BIG_ABOVE:.0%} of the target "
                f"{target}; one reader has to take each of them."
            )
        case Part.MANIFESTS:
            return (
                f"{table.n_manifests:,} manifests for {size_words(stats.n_bytes)}: planning a "
                "query opens them; a rewrite of manifests makes them fewer."
            )
        case Part.SNAPSHOTS:
            return (
                f"{table.n_snapshots:,} snapshots are kept: each commit writes and each reader "
                "reads all of them; expiring old ones makes them fewer."
            )


def _position(stats: PartitionStats) -> str:
    plain = stats.n_pos_delete_files - stats.n_dvs
    kinds = [_n(plain, "position delete file")] if plain else []
    kinds += [_n(stats.n_dvs, "deletion vector")] if stats.n_dvs else []
    share = stats.deleted_share
    return (
        f"{' and '.join(kinds) or 'Position deletes'} "
        f"{'marks' if stats.n_pos_delete_files == 1 else 'mark'} "
        f"{_n(stats.n_pos_deleted_rows, 'row')} ({share:.1%}) that each read has to leave out."
    )


def _files(stats: PartitionStats) -> str:
    return _n(stats.n_files, "file")


def _n(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
