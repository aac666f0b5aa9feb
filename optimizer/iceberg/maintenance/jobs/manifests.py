"""Merges many small manifests into few, with neighbouring partitions in each.

Data manifests go through Iceberg's own update of a table's manifests, whose entries keep all that
they say. (Spark's action of the same purpose leaves out the first row id of each file: rows of a
table of the third format would get new ids.) Manifests of delete files go through that action,
which is the only one that merges them. Both commit a REPLACE of exactly the manifests that they
read, so appends go on meanwhile, and branches and tags keep their own.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import functions as F

from optimizer.core.jobs.stops import check_stop
from optimizer.iceberg.access.jobs.commits import send, told
from optimizer.iceberg.access.jobs.errors import CONFLICT, clear_errors
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.inspect.jobs.partition_paths import path_column, specs_of
from optimizer.iceberg.maintenance.domain.manifest_merging import (
    Manifest,
    Merge,
    merges,
    neighbours,
    no_work_reason,
)
from portal.lake.errors import PortalError

_ICEBERG = "org.apache.iceberg."
_TARGET = "commit.manifest.target-size-bytes"
_TARGET_BYTES = 8 * 1024**2


class ManifestWork(TaskExecutor):
    """A rewrite of a table's manifests."""

    def count(self, table: IcebergTable) -> dict[str, int]:
        """Return the numbers that are told before and after."""
        with clear_errors(table.name):
            return table.totals() | {"n_manifests": int(table.manifests().size())}

    def work(self, table: IcebergTable) -> None:
        """Merge what is worth it; what another writer took away is planned once more."""
        target = int(table.properties.get(_TARGET, _TARGET_BYTES))
        for may_try_again in (True, False):
            try:
                self._merge_all(table, target)
                break
            except PortalError as error:
                if error.code != CONFLICT:
                    raise
                self.result.conflicts += 1
                if not may_try_again:
                    self.result.errors.append(error)
                table = table.again()
        self._tell(target)

    def _merge_all(self, table: IcebergTable, target: int) -> None:
        with clear_errors(table.name):
            manifests = table.manifests()
            todo = merges(_read(table, manifests), target_bytes=target)
        for merge in todo:
            check_stop(self.job, self.order.task)
            chosen = table.jvm.java.util.HashSet()
            for n in merge.places:
                chosen.add(manifests.get(n))
            with clear_errors(table.name), self.fail.step("commit"):
                self._merge(table, merge, chosen)

    def _merge(self, table: IcebergTable, merge: Merge, chosen: Any) -> None:
        is_chosen = table.columns.test("java.util.Set", "contains", "java.lang.Object", of=chosen)
        cluster = None if merge.is_deletes else _clusters(table, merge)

        def act(keys: Mapping[str, str]) -> bool:
            if merge.is_deletes:
                action = table.actions().rewriteManifests(table.java).specId(merge.spec_id)
                for key, value in keys.items():
                    action.snapshotProperty(key, value)
                action.rewriteIf(is_chosen).execute()
            else:
                update = table.java.rewriteManifests().rewriteIf(is_chosen).clusterBy(cluster)
                for key, value in keys.items():
                    update.set(key, value)
                update.commit()
            return True

        snapshot = send(table, self.signature, act)
        summary = snapshot.summary() if snapshot is not None else {}
        self.result.commits.append(
            told(
                snapshot,
                n_manifests_removed=int(summary.get("manifests-replaced") or 0),
                n_manifests_added=int(summary.get("manifests-created") or 0),
            )
        )

    def _tell(self, target: int) -> None:
        commits = self.result.commits
        if commits:
            n_removed = sum(one["n_manifests_removed"] for one in commits)
            n_added = sum(one["n_manifests_added"] for one in commits)
            self.result.notes.append(f"{n_removed} manifests became {n_added}.")
        elif not self.result.errors:
            n = self.result.before["n_manifests"]
            self.result.notes.append(no_work_reason(n, target_bytes=target))


def _read(table: IcebergTable, manifests: Any) -> list[Manifest]:
    """Read what the manifests' list says; one that does not count its files is left alone."""
    columns, owner = table.columns, _ICEBERG + "ManifestFile"
    names = ("partitionSpecId", "content", "length", "addedFilesCount", "existingFilesCount")
    rows = zip(*(columns.read(manifests, columns.step(owner, name)) for name in names), strict=True)
    return [
        Manifest(
            n,
            int(spec_id),
            is_deletes=content == "DELETES",
            n_bytes=int(n_bytes),
            n_live=int(added) + int(existing),
        )
        for n, (spec_id, content, n_bytes, added, existing) in enumerate(rows)
        if "null" not in (added, existing)
    ]


def _clusters(table: IcebergTable, merge: Merge) -> Any:
    """Return the function from a data file to the part that its entry goes into."""
    columns = table.columns
    parts = table.jvm.java.util.HashMap()
    if merge.n_out > 1:
        for path, part in neighbours(_files_by_path(table, merge.spec_id), merge.n_out).items():
            parts.put(path, str(part))
    spec = table.java.specs().get(merge.spec_id)
    to_path = columns.step(
        _ICEBERG + "PartitionSpec", "partitionToPath", _ICEBERG + "StructLike", of=spec
    )
    part = columns.step("java.util.Map", "get", "java.lang.Object", of=parts)
    # A key must not be null: what is not in the map goes together.
    text = columns.step("java.lang.String", "valueOf", "java.lang.Object")
    partition = columns.step(_ICEBERG + "ContentFile", "partition")
    return partition.andThen(to_path).andThen(part).andThen(text)


def _files_by_path(table: IcebergTable, spec_id: int) -> dict[str, int]:
    """Count the data files of each partition of one spec."""
    specs = specs_of(table)
    if not specs[spec_id]:
        return {}
    reader = table.spark.read.format("iceberg").option("snapshot-id", table.snapshot_id)
    path = path_column(specs, spec_id=F.col("spec_id"), partition="partition")
    found = reader.load(f"{table.sql}.partitions").where(F.col("spec_id") == spec_id)
    return {row[0]: int(row[1]) for row in found.select(path, "file_count").collect()}
