"""Counts what a cube covers of each partition of its table."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from optimizer.cubes.domain.coverage import CoveredFile

MOST_PARTITIONS = 1_000
"""Of so many partitions, the newest, numbers are kept; the totals count all."""


@dataclass
class PartitionCoverage:
    """Data files and rows of one partition, and why some are not covered."""

    partition: str
    n_files: int = 0
    n_covered: int = 0
    n_rows: int = 0
    n_rows_covered: int = 0
    stale: str = ""


def partitions_of(
    files: Iterable[tuple[str, CoveredFile]],
    covered: Collection[CoveredFile],
    refused: Mapping[str, str],
) -> list[PartitionCoverage]:
    """Return the partitions in the order in which they come, newest first, at most 1,000.

    `refused` says by location why a file is in no unit.
    """
    found: dict[str, PartitionCoverage] = {}
    for name, file in files:
        if name not in found:
            if len(found) == MOST_PARTITIONS:
                continue
            found[name] = PartitionCoverage(name)
        one = found[name]
        one.n_files += 1
        one.n_rows += file.records
        if file in covered:
            one.n_covered += 1
            one.n_rows_covered += file.records
        elif not one.stale:
            one.stale = refused.get(file.location, "")
    return list(found.values())
