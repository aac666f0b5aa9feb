"""Finds and drops delete files of a table that apply to no data file any more.

Iceberg plans a scan of the whole table and so names every delete file that a reader would open. A
delete file that none of main's data files needs holds no row back: data that comes later is newer
than it, and a rewrite under way writes no row that is not in a file of now. (Iceberg's own action
for this goes by partition, and would drop an equality delete without partition, which applies to
all of them.)
"""

from collections.abc import Mapping
from typing import Any

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns, all_tasks

_DELETE_FILE = "org.apache.iceberg.DeleteFile"
_VALIDATOR = "org.apache.iceberg.SnapshotAncestryValidator"
_ITERABLES = "org.apache.iceberg.relocated.com.google.common.collect.Iterables"


def dead_deletes(table: IcebergTable) -> Any:
    """Return Java's list of the delete files of main that no data file needs."""
    jvm, columns = table.jvm, table.columns
    dead = jvm.java.util.ArrayList()
    if table.snapshot is None:
        return dead
    manifests = table.snapshot.deleteManifests(table.java.io())
    if manifests.isEmpty():
        return dead
    needed = columns.flat(all_tasks(table), TaskColumns(columns).deletes)
    used = set(_keys(table, needed))
    for manifest in manifests:
        read = jvm.org.apache.iceberg.ManifestFiles.readDeleteManifest(
            manifest, table.java.io(), table.java.specs()
        )
        try:
            files = table.listed(read)
        finally:
            read.close()
        for n, key in enumerate(_keys(table, files)):
            if key not in used:
                dead.add(files.get(n))
    return dead


def drop(table: IcebergTable, dead: Any, keys: Mapping[str, str]) -> None:
    """Commit a REPLACE without them, on the history that they were found in.

    Were the table set back meanwhile, an older snapshot might need them: then nothing is dropped.
    """
    columns = table.columns
    rewrite = table.java.newRewrite().validateFromSnapshot(table.snapshot_id)
    rewrite.validateWith(
        columns.holds(_VALIDATOR, table.snapshot, contains=(_ITERABLES, "contains"))
    )
    for n in range(int(dead.size())):
        rewrite.deleteFile(dead.get(n))
    for key, value in keys.items():
        rewrite.set(key, value)
    rewrite.commit()


def _keys(table: IcebergTable, files: Any) -> list[tuple[str, str]]:
    """Tell delete files apart; many vectors lie in one file."""
    columns = table.columns
    location = columns.read(files, TaskColumns(columns).location)
    return list(
        zip(location, columns.read(files, columns.step(_DELETE_FILE, "contentOffset")), strict=True)
    )
