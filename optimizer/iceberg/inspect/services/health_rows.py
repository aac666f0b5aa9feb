"""Converts each row of an inspection's Parquet into rows of the portal's database."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from optimizer.core.domain.health import Health
from optimizer.iceberg.inspect.domain.stats import PartitionStats
from optimizer.models import Commit, PartitionHealth

Row = Mapping[str, Any]
COUNTS = (
    *("spec_id", "n_files", "n_bytes", "n_rows", "n_small", "small_bytes", "n_big"),
    *("two_smallest_bytes", "n_pos_delete_files", "n_pos_deleted_rows", "n_eq_delete_files"),
    *("n_eq_deleted_rows", "n_dvs", "squared_error", "n_laid_out", "laid_out_bytes"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def digest_of(spec_id: int, partition: str) -> str:
    """Return what identifies a partition: its text may be longer than an index takes."""
    return hashlib.sha256(f"{spec_id}\n{partition}".encode()).hexdigest()


def stats_of(row: Row, *, newest_commit_at: datetime | None) -> PartitionStats:
    """Read one partition."""
    counts = {name: row[name] for name in COUNTS}
    return PartitionStats(row["partition"], newest_commit_at=newest_commit_at, **counts)


def partition_health_row(
    stats: PartitionStats, health: Health, *, table_id: int, snapshot_id: int, sizes: Iterable[int]
) -> PartitionHealth:
    """Make the row of one partition."""
    return PartitionHealth(
        table_id=table_id,
        snapshot_id=snapshot_id,
        digest=digest_of(stats.spec_id, stats.partition),
        partition=stats.partition,
        newest_commit_at=stats.newest_commit_at,
        health=health.score,
        deductions=health.as_list(),
        sizes=list(sizes),
        **{name: getattr(stats, name) for name in COUNTS},
    )


def newest_of(row: Row, *, before: datetime | None, oldest_at: datetime | None) -> datetime | None:
    """Return when a writer last committed to a partition.

    A rewrite hides it, as it makes all files its own: then it is what was known before. Where
    nothing was, the rewrite's own instant is taken, and for files older than every snapshot that is
    kept, the oldest one's: no writer came later than that.
    """
    found = [one for one in (_instant(row["newest_commit_us"]), before) if one is not None]
    return max(found) if found else _instant(row["newest_rewrite_us"]) or oldest_at


def commit_rows(rows: Iterable[Row], *, now: datetime) -> Iterator[Commit]:
    """Make the rows of commits that a look found."""
    for row in rows:
        yield Commit(event_at=now, source="look", **{**row, "operation": row["operation"] or ""})


def _instant(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
