"""Reduces delete files, so that readers open fewer of them and no row comes back.

Three steps, each with its own commit. Data files under equality deletes, or of which much is
deleted, are rewritten as any others (`rewrite`): the read applies every delete. Position deletes
that remain are merged by Iceberg's own action, which keeps their sequence numbers and
leaves out those of files that are gone. Then delete files that apply to no data file are dropped.
Vectors of the third format are not merged: there is at most one a data file.

Iceberg plans a scan of the whole table and so names every delete file that a reader would open. A
delete file that none of main's data files needs holds no row back: data that comes later is newer
than it, and a rewrite under way writes no row that is not in a file of now. (Iceberg's own action
for this goes by partition, and would drop an equality delete without partition, which applies to
all of them.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.iceberg.access.jobs.commits import send, told
from optimizer.iceberg.access.jobs.errors import CONFLICT, ENDS_THE_TASK, clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.maintenance.domain.delete_merging import (
    BY_FILE,
    GRANULARITY,
    TARGET,
    TARGET_BYTES,
    VECTORS_FROM,
    PositionDeletes,
    merging,
    no_work_reason,
)
from optimizer.iceberg.rewrite.jobs.partition_filter import filter_of
from optimizer.iceberg.rewrite.jobs.planning import Plan, TaskColumns, all_tasks, plan_files
from optimizer.iceberg.rewrite.jobs.table_rewrite import TableWork
from portal.lake.errors import PortalError

_DELETE_FILE = "org.apache.iceberg.DeleteFile"
_VALIDATOR = "org.apache.iceberg.SnapshotAncestryValidator"
_ITERABLES = "org.apache.iceberg.relocated.com.google.common.collect.Iterables"

_POSITION = "POSITION_DELETES"
_VECTORS = "PUFFIN"


@dataclass
class DeletesWork(TableWork):
    """A merge of a table's delete files, into fewer of them or into the data."""

    def work(self, table: IcebergTable) -> None:
        """Do the three steps; what another writer wins is planned once more."""
        super().work(table)
        notes = self.result.notes
        if commits := self.result.commits:
            n_removed = sum(one["n_removed"] for one in commits)
            n_added = sum(one["n_added"] for one in commits)
            notes.append(f"{n_removed} data files were rewritten without deletes, as {n_added}.")
        for step in (self._merge, self._drop_dead):
            self._twice(step, table)

    def _twice(self, step: Any, table: IcebergTable) -> None:
        for may_try_again in (True, False):
            check_stop(self.job, self.order.task)
            try:
                with clear_errors(table.name):
                    step(table.again())
            except PortalError as error:
                self.result.conflicts += error.code == CONFLICT
                if error.code in STOPS | ENDS_THE_TASK:
                    raise
                if error.code == CONFLICT and may_try_again:
                    continue
                self.result.errors.append(error)
            return

    def _merge(self, table: IcebergTable) -> None:
        version = table.format_version
        granularity = table.properties.get(GRANULARITY, BY_FILE).lower()
        plan = plan_files(table, partitions=self.order.partitions)
        found, n_vectors = position_deletes(plan)
        won = merging(
            found,
            format_version=version,
            granularity=granularity,
            target_bytes=int(table.properties.get(TARGET, TARGET_BYTES)),
        )
        if not won.partitions:
            reason = no_work_reason(sum(one.n_files for one in found), granularity=granularity)
            self.result.notes += [reason] if reason else []
            if n_vectors and not self.result.commits:
                self.result.notes.append(
                    f"{n_vectors} deletion vectors stay: each is read with its own data file, "
                    "which is rewritten once a tenth of its rows is deleted."
                )
            return
        chosen = [one for one in plan.partitions if one.partition in won.partitions]
        action = table.actions().rewritePositionDeletes(table.java)
        action.filter(filter_of(table, chosen))
        if version >= VECTORS_FROM:
            action.option("rewrite-all", "true")
        action.option("min-input-files", "2")
        counts: dict[str, int] = {}

        def act(keys: Mapping[str, str]) -> bool:
            for key, value in keys.items():
                action.snapshotProperty(key, value)
            done = action.execute()
            counts["n_deletes_removed"] = int(done.rewrittenDeleteFilesCount())
            counts["n_deletes_added"] = int(done.addedDeleteFilesCount())
            counts["bytes_removed"] = int(done.rewrittenBytesCount())
            counts["bytes_added"] = int(done.addedBytesCount())
            return counts["n_deletes_removed"] > 0

        with self.fail.step("commit"):
            snapshot = send(table, self.signature, act)
        if snapshot is None:
            return
        self.result.commits.append(told(snapshot, **counts))
        self.result.notes.append(
            f"{counts.get('n_deletes_removed', 0)} position-delete files became "
            f"{counts.get('n_deletes_added', 0)}."
        )

    def _drop_dead(self, table: IcebergTable) -> None:
        dead = dead_deletes(table)
        if dead.isEmpty():
            return
        n_dead = int(dead.size())

        def act(keys: Mapping[str, str]) -> bool:
            drop(table, dead, keys)
            return True

        with self.fail.step("commit"):
            snapshot = send(table, self.signature, act)
        self.result.commits.append(told(snapshot, n_deletes_removed=n_dead))
        self.result.notes.append(f"{n_dead} delete files that applied to no file were dropped.")


def position_deletes(plan: Plan) -> tuple[list[PositionDeletes], int]:
    """Count each partition's position-delete files, and all vectors apart."""
    columns = plan.table.columns
    steps = TaskColumns(columns)
    of_spec: dict[int, list[list[tuple[str, int, bool]]]] = {}
    found = []
    vectors: set[tuple[str, int, int]] = set()
    for partition in plan.partitions:
        if partition.spec_id not in of_spec:
            of_spec[partition.spec_id] = _deletes_by_task(columns, steps, partition.tasks)
        by_task = of_spec[partition.spec_id]
        files: dict[str, int] = {}
        n_data_files = 0
        for file in partition.files:
            merged = {path: size for path, size, is_vector in by_task[file.n] if not is_vector}
            n_data_files += bool(merged)
            files |= merged
            vectors |= {
                (path, partition.spec_id, file.n)
                for path, _, is_vector in by_task[file.n]
                if is_vector
            }
        found.append(
            PositionDeletes(partition.partition, len(files), sum(files.values()), n_data_files)
        )
    return found, len(vectors)


def _deletes_by_task(
    columns: Any, steps: TaskColumns, tasks: Any
) -> list[list[tuple[str, int, bool]]]:
    """Give, for each scan task, path and size of its position deletes, and if it is a vector."""
    deletes = columns.flat(tasks, steps.deletes)
    rows = iter(
        zip(
            columns.read(deletes, steps.location),
            columns.numbers(deletes, steps.length),
            columns.read(deletes, steps.format),
            columns.read(deletes, steps.content),
            strict=True,
        )
    )
    counts = columns.numbers(tasks, steps.deletes, steps.size)
    out = []
    for n_deletes in counts:
        own = [next(rows) for _ in range(n_deletes)]
        out.append(
            [
                (path, size, format_ == _VECTORS)
                for path, size, format_, content in own
                if content == _POSITION
            ]
        )
    return out


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
