"""Deletes the files that only expired snapshots reached, a batch at a time under the run's lease.

Iceberg commits the expiry and names the files; they are deleted here, not inside its action, so
that an emergency stop ends it between two batches. What is left then is named by nothing, and the
next look for orphan files lists it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from pyspark.sql import DataFrame

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.removals.jobs.guard import RemovalGuard

BATCH = 500
_KINDS = {
    "DATA": "data files",
    "POSITION_DELETES": "delete files",
    "EQUALITY_DELETES": "delete files",
    "Manifest": "manifests",
    "Manifest List": "manifest lists",
    "Statistics Files": "statistics files",
}
_OTHER = "other files"


def kept_list(guard: RemovalGuard, files: DataFrame) -> DataFrame:
    """Write the list of files into the run's spool and return it as read from there.

    Computed twice it could differ: it comes from manifests that are themselves on it.
    """
    path = guard.job.spool.results.child("removals", f"{guard.task}.files")
    files.write.parquet(str(path))
    return guard.job.spark.read.parquet(str(path))


def delete_files(
    guard: RemovalGuard, table: IcebergTable, files: DataFrame, *, gone: Counter[str]
) -> None:
    """Delete the files of a list, and count in `gone` what went by its kind, also when it raises.

    Raises:
        PortalError: the run must stop, or a file could not be deleted.
    """
    for batch in _batches(files.toLocalIterator()):
        with guard.step({"files": [path for path, _ in batch]}) as told:
            _delete(table, [path for path, _ in batch])
            kinds = Counter(_KINDS.get(kind, _OTHER) for _, kind in batch)
            gone.update(kinds)
            told.update(n_files=len(batch), files=dict(kinds))


def _delete(table: IcebergTable, paths: Sequence[str]) -> None:
    with clear_errors(table.name):
        some: Any = table.jvm.java.util.ArrayList()
        for path in paths:
            some.add(path)
        table.java.io().deleteFiles(some)


def _batches(rows: Iterator[Any]) -> Iterator[list[tuple[str, str]]]:
    while batch := [(str(row["path"]), str(row["type"])) for row in islice(rows, BATCH)]:
        yield batch
