"""Expires old snapshots: selects them and what is removed with them, and performs the act.

Creating a list touches nothing: what would go is the difference between what the table reaches now
and what it would reach without the snapshots. The act judges again, and has Iceberg expire by id
those that were approved and still may go, and name the files that nothing reaches any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.locations import places_of
from optimizer.iceberg.maintenance.domain.expiry import Judged, judge
from optimizer.iceberg.maintenance.jobs.removal_orders import RemovalAsk
from optimizer.iceberg.tables.domain.table_metadata import ReportedMetadata
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

SAMPLE = 50


@dataclass(frozen=True, slots=True)
class Doomed:
    """The files that only the snapshots reach: how many of each kind, bytes, and some names."""

    n_files: Mapping[str, int]
    n_bytes: int
    sample: tuple[str, ...]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.n_files.values())


def reported_metadata(table: IcebergTable) -> ReportedMetadata:
    """Read the table's metadata as it is now."""
    with clear_errors(table.name):
        parser = table.jvm.org.apache.iceberg.TableMetadataParser
        return ReportedMetadata.read(str(parser.toJson(table.java.operations().current())))


def judged(said: ReportedMetadata, ask: RemovalAsk, *, now: datetime) -> Judged:
    """Judge the snapshots by the policy as the request has it."""
    retention = said.retention(expire_days=ask.expire_days, keep_snapshots=ask.keep_snapshots)
    return judge(said.snapshots, said.refs, retention=retention, now=now)


def check_may_expire(
    table: IcebergTable, said: ReportedMetadata, ids: Sequence[int], *, now: datetime
) -> None:
    """Refuse where the table's owner forbids it, or where more would go than these snapshots.

    Raises:
        RuleViolation: `removal.gc`, `removal.own_retention`.
    """
    if not said.may_collect:
        raise RuleViolation(
            "removal.gc",
            f"{table.name} forbids that its files are deleted (gc.enabled is false), often because "
            "another table uses them too. Nothing is removed.",
        )
    would_go = set(_would_expire(table, ids))
    lapsed = said.lapsed_refs(now)
    if would_go == set(ids) and not lapsed:
        return
    more = f"the branches or tags {', '.join(lapsed)}" if lapsed else ""
    n_more = len(would_go - set(ids))
    what = " and ".join(one for one in (more, f"{n_more} more snapshots" if n_more else "") if one)
    raise RuleViolation(
        "removal.own_retention",
        f"{table.name} has a retention of its own by which Iceberg would take {what or 'others'} "
        "along, which nobody was asked about. Nothing is removed: expire these by hand, or take "
        "max-ref-age and max-snapshot-age off its branches and tags.",
    )


def doomed_by(
    table: IcebergTable, said: ReportedMetadata, ids: Sequence[int], *, config: LakeConfig
) -> Doomed:
    """Find what would be deleted with the snapshots; reads metadata only.

    Raises:
        RuleViolation: `removal.outside`, some of it lies where the table has no place.
    """
    gone = frozenset(ids)
    kept_lists = {path for key, path in said.manifest_lists.items() if key not in gone}
    lists = {said.manifest_lists[key] for key in gone if key in said.manifest_lists} - kept_lists
    statistics = [one for one in said.statistics if one.snapshot_id in gone]
    with clear_errors(table.name):
        after = _without(table, ids)
        files = _only_before(table, after, "ALL_FILES", "file_path", "file_size_in_bytes")
        manifests = _only_before(table, after, "ALL_MANIFESTS", "path", "length")
        rows = files.unionByName(manifests).cache()
        try:
            return _summed(table, rows, lists, statistics, config)
        finally:
            rows.unpersist()


def expire(table: IcebergTable, ids: Sequence[int]) -> DataFrame:
    """Have Iceberg expire exactly these snapshots; returns the files that nothing reaches any more.

    Each has its `path` and `type`; none of them is deleted here. Who made one of the snapshots a
    branch's head or a tag meanwhile is heeded: then nothing is expired.
    """
    with clear_errors(table.name):
        actions = table.jvm.org.apache.iceberg.spark.actions.SparkActions.get()
        # Without an instant of ours Iceberg would take along all that is older than its own.
        action = actions.expireSnapshots(table.java).expireOlderThan(0)
        for one in ids:
            action = action.expireSnapshotId(one)
        return DataFrame(action.expireFiles().toDF(), table.spark)


def _would_expire(table: IcebergTable, ids: Sequence[int]) -> list[int]:
    """Ask Iceberg what it would expire; nothing is written."""
    with clear_errors(table.name):
        pending = table.java.expireSnapshots().expireOlderThan(0)
        for one in ids:
            pending = pending.expireSnapshotId(one)
        snapshot_id = table.columns.step("org.apache.iceberg.Snapshot", "snapshotId")
        return table.columns.numbers(pending.apply(), snapshot_id)


def _without(table: IcebergTable, ids: Sequence[int]) -> Any:
    """Return the table as it would be without the snapshots; it exists in this driver only."""
    jvm: Any = table.jvm
    iceberg = jvm.org.apache.iceberg
    now = table.java.operations().current()
    gateway: Any = table.spark.sparkContext._gateway
    numbers = gateway.new_array(jvm.long, len(ids))
    for n, one in enumerate(ids):
        numbers[n] = one
    boxed = jvm.java.util.Arrays.stream(numbers).boxed()
    # A set, because of a list Iceberg would take the elements for snapshots.
    gone = boxed.collect(jvm.java.util.stream.Collectors.toSet())
    metadata = (
        iceberg.TableMetadata.buildFrom(now)
        .removeSnapshots(gone)
        .discardChanges()
        .withMetadataLocation(now.metadataFileLocation())
        .build()
    )
    return iceberg.BaseTable(
        iceberg.StaticTableOperations(metadata, table.java.io()), table.java.name()
    )


def _only_before(table: IcebergTable, after: Any, what: str, path: str, size: str) -> DataFrame:
    """Return kind, path and size of what the table reaches now and would not reach afterwards."""
    before = metadata_rows(table, table.java, what)
    content = F.col("content") if what == "ALL_FILES" else F.lit(None)
    kind = F.when(content.isNull(), "manifests").when(content == 0, "data files")
    rows = before.select(
        kind.otherwise("delete files").alias("kind"),
        F.col(path).alias("path"),
        F.col(size).cast("long").alias("size"),
    ).dropDuplicates(["path"])
    left = metadata_rows(table, after, what).select(F.col(path).alias("path"))
    return rows.join(left, "path", "left_anti").select("kind", "path", "size")


def metadata_rows(table: IcebergTable, java: Any, what: str) -> DataFrame:
    """Return one of Iceberg's metadata tables of `java`, the table as it is or as it would be."""
    iceberg = table.jvm.org.apache.iceberg
    session: Any = table.spark._jsparkSession
    kind = iceberg.MetadataTableType.valueOf(what)
    rows = iceberg.spark.SparkTableUtil.loadMetadataTable(session, java, kind)
    return DataFrame(rows, table.spark)


def _summed(
    table: IcebergTable,
    rows: DataFrame,
    lists: set[str],
    statistics: Sequence[Any],
    config: LakeConfig,
) -> Doomed:
    counts = rows.groupBy("kind").agg(F.count("path").alias("n"), F.sum("size").alias("size"))
    found = {row["kind"]: row for row in counts.collect()}
    _check_inside(table, rows, config)
    names = [row["path"] for row in rows.orderBy("path").limit(SAMPLE).collect()]
    n_files = {kind: int(row["n"]) for kind, row in sorted(found.items())}
    return Doomed(
        {**n_files, "manifest lists": len(lists), "statistics files": len(statistics)},
        sum(int(row["size"] or 0) for row in found.values())
        + sum(int(one.n_bytes) for one in statistics),
        tuple(names),
    )


def _check_inside(table: IcebergTable, rows: DataFrame, config: LakeConfig) -> None:
    """Refuse where a file lies outside of the table's own places: it may be another table's."""
    places = [config.path(one) for one in places_of(table)]
    outside = [
        row["path"]
        for row in rows.select("path").toLocalIterator()
        if not _lies_in(config, row["path"], places)
    ]
    if outside:
        raise RuleViolation(
            "removal.outside",
            f"{len(outside)} files that would be deleted are outside of the place of {table.name}, "
            f"one of them {outside[0]}. They may belong to another table, so nothing is removed.",
        )


def _lies_in(config: LakeConfig, text: str, places: Sequence[LakePath]) -> bool:
    try:
        path = config.path(text)
    except RuleViolation:
        return False
    return any(path.is_at_or_under(place) for place in places)
