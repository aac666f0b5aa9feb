"""Deletes files from quarantine whose days are over, by the list that people approved.

A file goes only if it is on the list with its size, has lain there for the days of the list, and is
named by nothing of its table now. What is left is said; a person decides what becomes of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

from optimizer.core.jobs.stops import STOPS
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, metadata_of, open_table, use_iceberg
from optimizer.iceberg.maintenance.domain.orphans import FoundFile, left_by_names
from optimizer.iceberg.maintenance.domain.quarantine import (
    MANIFEST,
    HeldFile,
    QuarantinePlace,
    read_manifest,
)
from optimizer.iceberg.maintenance.jobs.orphan_listing import known_among
from optimizer.policies.domain.policy import DEFAULT
from optimizer.removals.jobs.guard import RemovalGuard, wall_clock
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.lake.errors import PortalError, StaleState
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints
from portal.spark.job import CANCELLED, JobContext

BATCH = 500


@dataclass(frozen=True, slots=True)
class Ordered:
    """One quarantine that the run may empty."""

    place: QuarantinePlace
    digest: str
    task: int
    db: str
    table: str
    uuid: str

    @classmethod
    def read(cls, job: JobContext, row: Mapping[str, Any]) -> "Ordered":
        """Read one of the request."""
        place = QuarantinePlace(job.config.path(str(row["place"])), str(row["plan"]))
        of_table = (str(row["db"]), str(row["table"]), str(row["uuid"]))
        return cls(place, str(row["digest"]), int(row["task"]), *of_table)


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Empty the quarantines of the request; one that fails does not keep the others."""
    use_iceberg(spark, job.config)
    rows = job.params["quarantines"]
    results: list[dict[str, Any]] = []
    stopped = ""
    for n, row in enumerate(rows):
        job.progress("quarantine", n, len(rows), f"{row['db']}.{row['table']}")
        reason = ""
        try:
            reason = _empty(job, Ordered.read(job, row))
        except PortalError as error:
            reason = error.message
            if error.code in STOPS or error.code == "act.fenced":
                stopped = error.message if error.code == CANCELLED else reason
        results.append({"quarantine": row["quarantine"], "reason": reason})
        if stopped:
            break
    job.progress("quarantine", len(results), len(rows), stopped)
    return {"results": results, "stopped": stopped}


def _empty(job: JobContext, order: Ordered) -> str:
    """Delete what may go from one quarantine; returns why the rest is left.

    Raises:
        PortalError: nothing, or nothing more, may be deleted.
    """
    directory = order.place.going
    fs = open_file_system(directory, config=job.config, acls=False)
    files = _due(fs, order)
    guard, fail = RemovalGuard(job, order.task), Failpoints.from_environment()
    table = open_table(job.spark, order.db, order.table, uuid=order.uuid)
    n_left = 0
    for start in range(0, len(files), BATCH):
        batch = files[start : start + BATCH]
        table = table.again()
        unknown = _unknown(job, table, batch)
        n_left += len(batch) - len(unknown)
        paths = [directory.child(one.name) for one in unknown]
        with guard.step({"files": [str(path) for path in paths]}) as told:
            if metadata_of(table.again()) != metadata_of(table):
                raise StaleState(
                    "quarantine.commit", f"{table.name} was written to just now; tried again later."
                )
            for path in paths:
                guard.check_often()
                with fail.step("quarantine"):
                    fs.remove_file(path)
            told["n_files"] = len(paths)
    if not n_left:
        return ""
    return f"{n_left} files are named by {table.name} again, so they stay: bring them back."


def _due(fs: FileSystem, order: Ordered) -> Sequence[HeldFile]:
    """Return the files of the approved list that lie there as they were listed.

    Raises:
        StaleState: `quarantine.young`, `quarantine.changed`.
    """
    directory = order.place.going
    manifest = directory.child(MANIFEST)
    head, listed = read_manifest(fs.read(manifest), digest=order.digest)
    written = fs.status(manifest)
    moved_at = datetime.fromtimestamp((written.mtime_ms if written else 0) / 1000, UTC)
    days = int(head.get("quarantine_days", DEFAULT.quarantine_days))
    due = moved_at + timedelta(days=days)
    if written is None or wall_clock() < due:
        raise StaleState(
            "quarantine.young",
            f"{directory} was filled at {moved_at:%Y-%m-%d %H:%M} UTC; its {days} days are not "
            "over.",
        )
    return list(_as_listed(fs, directory, listed))


def _as_listed(
    fs: FileSystem, directory: LakePath, listed: Sequence[HeldFile]
) -> Iterator[HeldFile]:
    there = {one.path.name: one for one in fs.children(directory)}
    for one in listed:
        found = there.get(one.name)
        if found is not None and not found.is_dir and found.size == one.size:
            yield one


def _unknown(job: JobContext, table: IcebergTable, batch: Sequence[HeldFile]) -> list[HeldFile]:
    """Return those that no name of the table's metadata means."""
    found = [FoundFile(job.config.path(one.path), one.size, 0) for one in batch]
    known = known_among(table, found)
    return [
        one for one, file in zip(batch, found, strict=True) if left_by_names(file, known) is None
    ]
