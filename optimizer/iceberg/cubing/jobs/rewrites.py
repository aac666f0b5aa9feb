"""Reads from a table's history which files its rewrites took out and put in, by partition."""

from typing import Any

from optimizer.cubes.domain.coverage import CoveredFile
from optimizer.cubes.domain.upkeep import Replacement
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable


def replacements_since(table: IcebergTable, snapshot_id: int) -> list[Replacement]:
    """Return what rewrites did after a snapshot, in order; nothing where it is no ancestor."""
    chain: list[Any] = []
    at = table.snapshot
    while at is not None and int(at.snapshotId()) != snapshot_id:
        chain.append(at)
        parent = at.parentId()
        at = table.java.snapshot(parent) if parent is not None else None
    if at is None:
        return []
    found: list[Replacement] = []
    with clear_errors(table.name):
        for snapshot in reversed(chain):
            if str(snapshot.operation()) == "replace":
                found += _of(table, snapshot)
    return found


def _of(table: IcebergTable, snapshot: Any) -> list[Replacement]:
    files = table.java.io()
    removed = _by_partition(table, snapshot.removedDataFiles(files))
    added = _by_partition(table, snapshot.addedDataFiles(files))
    if set(removed) != set(added):
        # Files went to partitions of another spec: only all of them together add up.
        gone = tuple(one for part in removed.values() for one in part)
        came = tuple(one for part in added.values() for one in part)
        return [Replacement(gone, came)]
    return [Replacement(tuple(removed[key]), tuple(added[key])) for key in removed]


def _by_partition(table: IcebergTable, files: Any) -> dict[str, list[CoveredFile]]:
    found: dict[str, list[CoveredFile]] = {}
    specs = table.java.specs()
    for one in files:
        path = f"{one.specId()}/{specs.get(one.specId()).partitionToPath(one.partition())}"
        covered = CoveredFile(str(one.location()), int(one.recordCount()))
        found.setdefault(path, []).append(covered)
    return found
