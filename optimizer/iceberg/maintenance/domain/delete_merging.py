"""Finds the partitions in which merging position-delete files leaves fewer of them.

A deletion vector is already the best there can be: at most one a data file. Position-delete files
of the second format merge into one a data file, or into one a partition where the table's
`write.delete.granularity` says so. Where that leaves as many files, nothing is won.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from optimizer.policies.domain.policy import MIB

VECTORS_FROM = 3
"""The format version whose position deletes are vectors."""
BY_FILE = "file"
GRANULARITY = "write.delete.granularity"
TARGET = "write.delete.target-file-size-bytes"
TARGET_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class PositionDeletes:
    """The position-delete files of one partition that are no vectors, and who reads them."""

    partition: str
    n_files: int
    n_bytes: int
    n_data_files: int  # to which at least one of them may apply


@dataclass(frozen=True, slots=True)
class Merging:
    """Where merging wins, and how many files there are at most after it."""

    partitions: frozenset[str]
    n_before: int
    n_after: int


def merging(
    partitions: Iterable[PositionDeletes],
    *,
    format_version: int,
    granularity: str,
    target_bytes: int = TARGET_BYTES,
) -> Merging:
    """Return the partitions in which merging leaves fewer delete files, or vectors for files."""
    won: list[tuple[str, int, int]] = []
    for one in partitions:
        after = one.n_data_files if granularity == BY_FILE else -(-one.n_bytes // target_bytes)
        if format_version >= VECTORS_FROM:
            after = 0
        if after < one.n_files:
            won.append((one.partition, one.n_files, after))
    return Merging(
        frozenset(name for name, _, _ in won),
        sum(before for _, before, _ in won),
        sum(after for _, _, after in won),
    )


def no_work_reason(n_files: int, *, granularity: str) -> str:
    """Say why none is merged, or nothing where there are none."""
    if not n_files:
        return ""
    if granularity != BY_FILE:
        return f"{n_files} position-delete files stay: each partition has no more than it needs."
    return (
        f"{n_files} position-delete files stay: they apply to as many data files, and "
        f"{GRANULARITY} asks for one each. Set it to 'partition' for fewer of them, or run FULL."
    )
