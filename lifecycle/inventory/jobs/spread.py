"""Distributes rows over tasks, so that one shuffle also gives the sorted result.

Tables in order of (db, tbl) are cut into buckets of about equal size; a table bigger than a bucket
is cut by partition name. Neighbours then stand together: one task lists each parent directory once,
and the files of the result are in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lifecycle.inventory.jobs.metastore import ROWS_PER_SLICE, MetastoreReader, PartitionCounts
from lifecycle.inventory.jobs.tables import Table

_MIN_BUCKETS = 2
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Share:
    """The first bucket of a table, and the partition names at which its further ones begin."""

    bucket: int
    splits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """The buckets of one scan; `keys[i]` is the value that Spark hashes to partition i."""

    shares: Mapping[int, Share]
    keys: tuple[int, ...]

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return len(self.keys)


def spread_rows(
    reader: MetastoreReader, tables: Sequence[Table], counts: PartitionCounts
) -> Spread:
    """Plan the buckets from the number of partitions of each table."""
    total = counts.total + len(tables)
    capacity = max(1_000, min(ROWS_PER_SLICE, -(-total // _MIN_BUCKETS)))
    shares: dict[int, Share] = {}
    bucket, filled = 0, 0
    for table in tables:
        n = counts.of_table.get(table.tbl_id, 1)
        n_pieces = -(-n // capacity)
        if filled and filled + n > capacity:
            bucket, filled = bucket + 1, 0
        splits = _splits(reader, table, n, n_pieces) if n_pieces > 1 else ()
        shares[table.order] = Share(bucket, splits)
        bucket += len(splits)
        filled += -(-n // (len(splits) + 1))
    return Spread(shares, _keys(bucket + 1))


def _splits(reader: MetastoreReader, table: Table, n: int, n_pieces: int) -> tuple[str, ...]:
    names = reader.partition_name_sample(table.tbl_id, n)
    cuts = {names[len(names) * piece // n_pieces] for piece in range(1, n_pieces) if names}
    return tuple(sorted(cuts))


def _keys(n: int) -> tuple[int, ...]:
    """Find, for each of n partitions, an integer that Spark's hash partitioning puts there."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < n:
        found.setdefault(spark_hash(candidate) % n, candidate)
        candidate += 1
    return tuple(found[place] for place in range(n))


def spark_hash(value: int) -> int:
    """Hash a non-negative int as Spark's `hash` does (Murmur3, 32 bits, seed 42)."""
    mixed = value * 0xCC9E2D51 & _MASK
    mixed = _rotated(mixed, 15) * 0x1B873593 & _MASK
    total = (_rotated(42 ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    total ^= 4  # bytes of an int
    total = (total ^ total >> 16) * 0x85EBCA6B & _MASK
    total = (total ^ total >> 13) * 0xC2B2AE35 & _MASK
    total ^= total >> 16
    return total - (1 << 32) if total >> 31 else total


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
