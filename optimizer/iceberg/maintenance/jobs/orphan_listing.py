"""Lists a table's place and compares it with all names of its metadata, in Spark.

Executors list directories and join the names; only counts and the files that become a list of
removals come to the driver.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, metadata_of
from optimizer.iceberg.access.jobs.locations import bare_column
from optimizer.iceberg.maintenance.domain.orphans import (
    FoundFile,
    Known,
    Left,
    left_by_itself,
)
from optimizer.iceberg.maintenance.jobs.expire import metadata_rows, reported_metadata
from optimizer.iceberg.tables.domain.table_metadata import ReportedMetadata
from portal.connectors.file_status import FileStatus
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, NotVisible, PortalError
from portal.lake.paths import LakePath
from portal.spark.job import JobContext

_SPREAD_FROM = 64
"""From so many directories of one level on, each is walked to its end by one task."""
_FAILED = "FAILED"
_LISTED = "uri string, path string, name string, size long, mtime long, reason string"
_Row = tuple[str, str, str, int, int, str | None]


@dataclass(frozen=True, slots=True)
class Orphans:
    """What a comparison found: how many orphans, the first of them by name, and what is left."""

    n_found: int
    first: list[FoundFile]
    left: dict[str, int]


def list_place(job: JobContext, place: LakePath, *, before_ms: int, task: int) -> DataFrame:
    """List every file at a place into the run's spool, with why it is left by itself.

    Raises:
        ExternalFailure: `removal.listing`, a directory could not be listed.
    """
    path = str(job.spool.results.child("removals", f"{task}.listing"))
    rows: Any = _spread(job, place, before_ms=before_ms)
    job.spark.createDataFrame(rows, _LISTED, verifySchema=False).write.parquet(path)
    found = job.spark.read.parquet(path)
    failed = found.where(F.col("reason") == _FAILED).first()
    if failed is not None:
        raise ExternalFailure(
            "removal.listing",
            f"{place} could not be listed whole: {failed['uri']} Nothing is proposed.",
            service="filesystem",
            retryable=True,
        )
    return found


def compare(
    job: JobContext, listed: DataFrame, named: DataFrame, *, table: str, most: int
) -> Orphans:
    """Compare a listing with the names of a table that was opened after the listing."""
    is_there = F.lit(1)
    with clear_errors(table):
        names = named.persist(StorageLevel.DISK_ONLY)
        paths = names.select("path", is_there.alias("is_known")).distinct()
        bare = names.select("name", is_there.alias("is_name_known")).distinct()
        reason = F.coalesce(
            F.col("reason"),
            F.when(F.col("is_known").isNotNull(), Left.KNOWN.value),
            F.when(F.col("is_name_known").isNotNull(), Left.DOUBTFUL.value),
        )
        joined = listed.join(paths, "path", "left").join(bare, "name", "left")
        judged = joined.select("uri", "size", "mtime", reason.alias("reason"))
        judged = judged.persist(StorageLevel.DISK_ONLY)
        try:
            counts = judged.groupBy("reason").count().orderBy(F.desc("count")).collect()
            found = judged.where(F.col("reason").isNull()).orderBy("uri").limit(most).collect()
        finally:
            judged.unpersist()
            names.unpersist()
    first = [FoundFile(job.config.path(row["uri"]), row["size"], row["mtime"]) for row in found]
    left = {str(row["reason"]): int(row["count"]) for row in counts if row["reason"] is not None}
    n_found = sum(int(row["count"]) for row in counts if row["reason"] is None)
    return Orphans(n_found, first, left)


def known_among(table: IcebergTable, files: Sequence[FoundFile]) -> Known:
    """Return those names of the metadata that some files have, as paths and as bare names."""
    with clear_errors(table.name):
        rows = [(one.path.path, one.path.name) for one in files]
        wanted = F.broadcast(table.spark.createDataFrame(rows, "path string, name string"))
        names = names_of(table)
        paths = names.join(wanted.select("path"), "path", "left_semi").select("path").distinct()
        bare = names.join(wanted.select("name"), "name", "left_semi").select("name").distinct()
        return Known({row[0] for row in paths.collect()}, {row[0] for row in bare.collect()})


def names_of(table: IcebergTable) -> DataFrame:
    """Return `path` and `name` of all that the metadata names: every snapshot, branch and tag."""
    said = reported_metadata(table)
    others = [(text,) for text in _of_metadata(said, metadata_of(table))]
    texts = table.spark.createDataFrame(others, "text string")
    for what, column in (("ALL_FILES", "file_path"), ("ALL_MANIFESTS", "path")):
        found = metadata_rows(table, table.java, what).select(F.col(column).alias("text"))
        texts = texts.unionByName(found)
    named = texts.select(bare_column(F.col("text")).alias("path")).distinct()
    return named.withColumn("name", F.substring_index("path", "/", -1))


def _of_metadata(said: ReportedMetadata, current: str) -> Iterator[str]:
    yield current
    yield from said.metadata_log
    yield from said.manifest_lists.values()
    yield from (one.path for one in said.statistics)


def _spread(job: JobContext, place: LakePath, *, before_ms: int) -> Any:
    """Return an RDD of rows: level by level, then whole trees where there are enough of them."""
    context = job.spark.sparkContext
    config, root = job.config.as_dict(), str(place)
    slices = max(_SPREAD_FROM, 4 * context.defaultParallelism)
    levels: list[Any] = []
    directories = [root]
    while directories and len(directories) < _SPREAD_FROM:
        some = context.parallelize(directories, len(directories))
        level = some.flatMap(lambda text: _children(config, root, before_ms, text))
        level = level.persist(StorageLevel.DISK_ONLY)
        levels.append(level.filter(lambda row: row[5] != _DIRECTORY))
        directories = level.filter(lambda row: row[5] == _DIRECTORY).map(lambda r: r[0]).collect()
    if directories:
        some = context.parallelize(directories, min(slices, len(directories)))
        levels.append(some.flatMap(lambda text: _tree(config, root, before_ms, text)))
    return context.union(levels)


_DIRECTORY = "DIRECTORY"


def _children(config: dict[str, Any], root: str, before_ms: int, text: str) -> list[_Row]:
    """List one directory in an executor; what it was refused comes back as a row."""
    lake, path = LakeConfig.from_dict(config), LakePath.parse(text)
    try:
        found = open_file_system(path, config=lake, acls=False).children(path)
    except NotVisible:
        return []
    except PortalError as error:
        return [_failed(error)]
    return list(_rows(found, LakePath.parse(root), before_ms))


def _tree(config: dict[str, Any], root: str, before_ms: int, text: str) -> Iterator[_Row]:
    """Walk one directory to its end in an executor."""
    lake, path = LakeConfig.from_dict(config), LakePath.parse(text)
    try:
        files = (
            one
            for one in open_file_system(path, config=lake, acls=False).walk(path)
            if not one.is_dir
        )
        yield from _rows(files, LakePath.parse(root), before_ms)
    except NotVisible:
        return
    except PortalError as error:
        yield _failed(error)


def _rows(found: Iterable[FileStatus], root: LakePath, before_ms: int) -> Iterator[_Row]:
    for one in found:
        reason: str | None = _DIRECTORY
        if not one.is_dir:
            file = FoundFile(one.path, one.size, one.mtime_ms)
            left = left_by_itself(file, place=root, before_ms=before_ms)
            reason = None if left is None else left.value
        yield str(one.path), one.path.path, one.path.name, one.size, one.mtime_ms, reason


def _failed(error: PortalError) -> _Row:
    return error.message, "", "", 0, 0, _FAILED
