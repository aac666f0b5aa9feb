"""What a look at Iceberg tables leaves in a run's spool, written without Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from optimizer.core.domain.sizes import BUCKETS
from optimizer.iceberg.inspect.domain.stats import partition_stats
from optimizer.iceberg.inspect.run_kinds import KIND
from optimizer.models import IcebergTable
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.spark.spool import Spool
from tests.component.conftest import LAKE, NOW

MIB = 1024**2
TARGET = 512 * MIB


def iceberg_table(name: str = "events", **values: Any) -> IcebergTable:
    """Make the row of a table that was heard of and not yet looked at."""
    return IcebergTable.objects.create(
        **{
            "lake": LAKE,
            "db": "etl",
            "table": name,
            "uuid": f"uuid-{name}",
            "event_at": NOW,
            "inspect_due_at": NOW,
            "snapshot_id": 7,
            **values,
        }
    )


def partition(name: str, *sizes: int, **values: Any) -> dict[str, Any]:
    """Return a row of the job's for a partition with files of these sizes."""
    stats = asdict(partition_stats(name, sizes, target_bytes=TARGET, n_rows=1000))
    del stats["newest_commit_at"]
    counts = [0] * len(BUCKETS)
    for size in sizes:
        counts[sum(size >= bucket.low for bucket in BUCKETS[1:])] += 1
    extra = {"newest_commit_us": None, "newest_rewrite_us": None, "sizes": counts}
    return {**stats, **extra, **values}


def micros(at: datetime) -> int:
    """Return an instant as the job writes it."""
    return int(at.astimezone(UTC).timestamp()) * 1_000_000


class Looked:
    """One run of a look, and what it found."""

    def __init__(
        self, config: LakeConfig, *tables: IcebergTable, requested_at: datetime = NOW
    ) -> None:
        self.run = Run.objects.create(
            lake=LAKE,
            kind=KIND,
            params={"tables": [table.pk for table in tables]},
            requested_by="schedule",
            queued_at=NOW,
        )
        self.spool = Spool.for_run(config, str(self.run.pk), 1)
        self.spool.create()
        self.run.spool = str(self.spool.root)
        self.run.save()
        self.requested_at = requested_at
        self.failed: list[dict[str, Any]] = []
        self._tables: list[Mapping[str, Any]] = []
        self._commits: list[Mapping[str, Any]] = []
        self._writes: list[Mapping[str, Any]] = []

    def found(
        self,
        table: IcebergTable,
        partitions: Sequence[Mapping[str, Any]],
        *,
        commits: Sequence[Mapping[str, Any]] = (),
        writes: Mapping[str, bool] | None = None,
        **values: Any,
    ) -> None:
        """Say what was found of one table."""
        row = {
            "table_id": table.pk,
            "snapshot_id": 7,
            "sequence": 7,
            "committed_at": NOW,
            "oldest_at": None,
            "format_version": 2,
            "n_manifests": 3,
            "n_snapshots": 5,
            "n_partitions": len(partitions),
            "columns": "{}",
            "partition_spec": "dt",
            "layout": "",
            "target_bytes": TARGET,
            **values,
        }
        self._tables.append(row)
        self._commits += [{"table_id": table.pk, **commit} for commit in commits]
        self._writes += [
            {"table_id": table.pk, "write_id": one, "is_used": is_used}
            for one, is_used in (writes or {}).items()
        ]
        if partitions:
            self._write(partitions, "partitions", str(table.pk))

    def manifest(self, outcome: str = "done") -> dict[str, Any]:
        """Write the driver's rows, and give the run's manifest."""
        parts = {"tables": self._tables, "commits": self._commits, "writes": self._writes}
        for name, rows in parts.items():
            if rows:
                self._write(rows, name)
        result = {
            "tables": len(self._tables),
            "failed": self.failed,
            "requested_at": self.requested_at.isoformat(),
        }
        return {"outcome": outcome, "error": None, "result": result if outcome == "done" else {}}

    def _write(self, rows: Sequence[Mapping[str, Any]], *names: str) -> None:
        place = self.spool.results.child(*names)
        self.spool.fs.make_directories(place, mode=0o700)
        buffer = BytesIO()
        pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), buffer)
        self.spool.fs.replace(place.child("part-1.parquet"), buffer.getvalue())


def commit(snapshot_id: int, **values: Any) -> dict[str, Any]:
    """Return a row of the job's for a commit."""
    return {
        "snapshot_id": snapshot_id,
        "parent_id": snapshot_id - 1,
        "sequence": snapshot_id,
        "at": NOW,
        "operation": "append",
        "is_ours": False,
        **dict.fromkeys(("n_added", "n_removed", "bytes_added", "bytes_removed"), 1),
        **dict.fromkeys(("n_deletes_added", "n_changed_partitions"), 0),
        **values,
    }
