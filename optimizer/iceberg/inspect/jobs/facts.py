"""Reads a table's metadata other than its files: columns, spec, snapshots and commits.

Read from the metadata that Iceberg holds already, as JSON texts: one call each, however wide a
schema or long a summary is.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.tables.domain.events import TASK_KEY, commit_of, iceberg_table

MOST_COMMITS = 500


def table_facts(table: IcebergTable) -> dict[str, Any]:
    """Return what stands in the table's row of the result, without the counts of its files."""
    iceberg, snapshot = table.jvm.org.apache.iceberg, table.snapshot
    # Read as the metastore's parameters are, so that an event and a look say the same.
    said = iceberg_table(
        (table.db, table.table),
        {
            "table_type": "iceberg",
            "metadata_location": str(table.java.operations().current().metadataFileLocation()),
            "current-schema": str(iceberg.SchemaParser.toJson(table.java.schema())),
            "default-partition-spec": str(iceberg.PartitionSpecParser.toJson(table.java.spec())),
        },
    )
    facts: dict[str, Any] = {
        "format_version": table.format_version,
        "columns": json.dumps(dict(said.columns or {}) if said else {}, ensure_ascii=False),
        "partition_spec": (said.partition_spec or "") if said else "",
        "n_snapshots": int(table.java.operations().current().snapshots().size()),
        "n_manifests": 0,
    }
    if snapshot is not None:
        facts |= {
            "snapshot_id": int(snapshot.snapshotId()),
            "sequence": int(snapshot.sequenceNumber()),
            "committed_at": _instant(int(snapshot.timestampMillis())),
            "n_manifests": int(snapshot.allManifests(table.java.io()).size()),
            "oldest_at": _instant(_oldest(table)),
        }
    return facts


def commits_since(table: IcebergTable, since: int | None) -> Iterator[dict[str, Any]]:
    """Yield main's commits from the newest back to the one looked at last, which is left out.

    Several can hide behind one event. At most `MOST_COMMITS`, and none that has expired.
    """
    to_json = table.jvm.org.apache.iceberg.SnapshotParser.toJson
    snapshot = table.snapshot
    for _ in range(MOST_COMMITS):
        if snapshot is None or int(snapshot.snapshotId()) == since:
            return
        told = json.loads(to_json(snapshot))
        yield _commit(told)
        parent = told.get("parent-snapshot-id")
        snapshot = table.java.snapshot(parent) if parent is not None else None


def _commit(told: Mapping[str, Any]) -> dict[str, Any]:
    summary = told.get("summary") or {}
    return {
        "snapshot_id": int(told["snapshot-id"]),
        "parent_id": told.get("parent-snapshot-id"),
        "sequence": told.get("sequence-number"),
        "at": _instant(int(told["timestamp-ms"])),
        "is_ours": TASK_KEY in summary,
        **commit_of(summary),
        "operation": str(summary.get("operation", "")),
    }


def _oldest(table: IcebergTable) -> int:
    """Return the instant of the oldest snapshot that is kept: files of expired ones are older."""
    return int(table.java.operations().current().snapshots().get(0).timestampMillis())


def _instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
