"""The branch of a trial: made at a snapshot, and taken away again with all that was written for it.

A journal `<table>/_lakewarden/journal.<trial>` is written before the branch is made and goes last,
so that whoever cleans up after a death knows the base, and the metadata files that nothing names
any more. Branch and snapshot go in one commit that takes just these: expiring them by Iceberg would
heed the retention of the table and take others along. What somebody else built on is left.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import clear_errors, conflict, sorted_error
from optimizer.iceberg.access.jobs.history import RUN_KEY
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, summary_of
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from portal.lake.errors import PortalError, StaleState
from portal.safety.failpoints import Failpoints
from portal.spark.java_errors import JAVA_ERRORS, causes_of

CHANGED = "trial.branch_changed"
LONGEST_LIFE = timedelta(days=7)
"""After this any expiry of the table takes the branch away, should no portal know of it."""
_TRIES = 5
_ICEBERG = "org.apache.iceberg."


@dataclass(frozen=True)
class TrialBranch:
    """The branch of one run on one table; `deployment` is the portal's."""

    table: IcebergTable
    name: str
    run: str
    deployment: str
    fail: Failpoints = field(default_factory=Failpoints)

    @property
    def area(self) -> StagingArea:
        """Where its files are staged: apart from those of rewrites, whose sweeps leave it alone."""
        deployment = f"trial.{self.deployment}"
        return StagingArea(self.table, deployment=deployment, run=self.run, fail=self.fail)

    def make(self, base: int) -> None:
        """Make the branch at a snapshot; from then on no expiry takes its files.

        Raises:
            StaleState: the snapshot has expired, or the branch is there already.
        """
        with self.fail.step("branch"):
            self._note(_Journal(self.name, base))
            with clear_errors(self.table.name):
                manage = self.table.again().java.manageSnapshots()
                milliseconds = int(LONGEST_LIFE.total_seconds() * 1000)
                manage.createBranch(self.name, base).setMaxRefAgeMs(
                    self.name, milliseconds
                ).commit()

    def remove(self) -> list[str]:
        """Take away the branch, its snapshots and its files; says what is left and why.

        Called again it goes on where it was ended, and finds nothing once all is gone.

        Raises:
            StaleState: `trial.branch_changed`, somebody else committed to the branch.
            PortalError: it could not be done now.
        """
        notes = self._drop()
        with self.fail.step("sweep"):
            journal = self._read()
            if journal is not None:
                self._delete_metadata(journal)
            n_gone, n_kept = self.area.remove()
        if n_kept:
            notes.append(f"{n_kept} files of the trial stay: another snapshot names them.")
        elif n_gone:
            notes.append(f"{n_gone} data files were removed.")
        if journal is not None:
            with clear_errors(self.table.name):
                self.table.java.io().deleteFile(self._place)
        return notes

    # -- the branch ------------------------------------------------------------------------

    def _drop(self) -> list[str]:
        found: PortalError | None = None
        for _ in range(_TRIES):
            table = self.table.again()
            with clear_errors(table.name):
                operations = table.java.operations()
                metadata = operations.current()
                ref = metadata.ref(self.name)
            if ref is None:
                return []
            with clear_errors(table.name):
                own = self._own_snapshots(table, metadata, int(ref.snapshotId()))
                gone = [one for one in own if not _is_held(table, metadata, one, self.name)]
                self._note(_Journal(self.name, self._base(), _files_of(table, metadata, gone)))
            try:
                with self.fail.step("drop"):
                    operations.commit(metadata, _without(table, metadata, self.name, gone))
            except JAVA_ERRORS as error:
                found = sorted_error(error, table.name)
                if not any(name.endswith(".CommitFailedException") for name, _ in causes_of(error)):
                    raise found from error
            else:
                return (
                    [] if len(gone) == len(own) else ["Another branch or tag holds its snapshot."]
                )
        raise found or conflict(self.table.name, "The branch could not be dropped.")

    def _base(self) -> int:
        journal = self._read()
        return journal.base if journal is not None else 0

    def _own_snapshots(self, table: IcebergTable, metadata: Any, head: int) -> list[int]:
        """Return this run's snapshots from the head of the branch down to its base.

        Raises:
            StaleState: `trial.branch_changed`.
        """
        own: list[int] = []
        at: int | None = head
        while at is not None:
            snapshot = metadata.snapshot(at)
            if snapshot is None or summary_of(snapshot).get(RUN_KEY) != self.run:
                break
            own.append(at)
            parent = snapshot.parentId()
            at = None if parent is None else int(parent)
        base = self._base()
        if (own and not base) or at == base:
            return own
        raise StaleState(
            CHANGED,
            f"Somebody else committed to the branch {self.name} of {table.name}, so it is left "
            "alone. Drop it by hand once nobody needs it: its files go with the next expiry.",
            table=table.name,
        )

    # -- its metadata files ----------------------------------------------------------------

    def _delete_metadata(self, journal: "_Journal") -> None:
        """Delete the manifests and their lists that no snapshot names any more."""
        if not journal.files:
            return
        table = self.table.again()
        named = set(_manifests_named(table, journal.files))
        with clear_errors(table.name):
            named |= {
                str(one.manifestListLocation()) for one in table.listed(table.java.snapshots())
            }
            for path in journal.files:
                if path not in named:
                    table.java.io().deleteFile(path)

    # -- the journal -----------------------------------------------------------------------

    @property
    def _place(self) -> str:
        name = f"journal.{self.deployment}.{self.table.uuid}.{self.run}"
        return f"{self.table.location}/_lakewarden/{name}"

    def _note(self, journal: "_Journal") -> None:
        text = json.dumps(
            {"branch": journal.branch, "base": journal.base, "files": list(journal.files)}
        )
        with clear_errors(self.table.name):
            stream = self.table.java.io().newOutputFile(self._place).createOrOverwrite()
            stream.write(text.encode())
            stream.close()

    def _read(self) -> "_Journal | None":
        with clear_errors(self.table.name):
            file = self.table.java.io().newInputFile(self._place)
            if not file.exists():
                return None
            stream = file.newStream()
            text = bytes(stream.readAllBytes()).decode(errors="replace")
            stream.close()
        # A journal that a death cut short was written before anything that it would tell of.
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(text)
            return _Journal(str(said["branch"]), int(said["base"]), tuple(said["files"]))
        return _Journal(self.name, 0)


@dataclass(frozen=True, slots=True)
class _Journal:
    branch: str
    base: int
    files: tuple[str, ...] = ()


def _is_held(table: IcebergTable, metadata: Any, snapshot_id: int, branch: str) -> bool:
    """Whether main, or another branch or tag, has a snapshot in its history."""
    is_ancestor = table.jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf
    heads = {int(ref.snapshotId()) for name, ref in dict(metadata.refs()).items() if name != branch}
    return any(bool(is_ancestor(table.java, head, snapshot_id)) for head in heads)


def _files_of(table: IcebergTable, metadata: Any, snapshots: list[int]) -> tuple[str, ...]:
    """Return the manifest lists of these snapshots, and the manifests that they wrote."""
    io, found = table.java.io(), list[str]()
    for snapshot_id in snapshots:
        snapshot = metadata.snapshot(snapshot_id)
        found.append(str(snapshot.manifestListLocation()))
        manifests = table.listed(snapshot.allManifests(io))
        path = table.columns.step(_ICEBERG + "ManifestFile", "path")
        writer = table.columns.step(_ICEBERG + "ManifestFile", "snapshotId")
        if manifests.size():
            paths = table.columns.read(manifests, path)
            writers = table.columns.numbers(manifests, writer)
            found += [one for one, by in zip(paths, writers, strict=True) if by == snapshot_id]
    return tuple(found)


def _without(table: IcebergTable, metadata: Any, branch: str, snapshots: list[int]) -> Any:
    jvm: Any = table.jvm
    builder = jvm.org.apache.iceberg.TableMetadata.buildFrom(metadata).removeRef(branch)
    if snapshots:
        gateway: Any = table.spark.sparkContext._gateway
        numbers = gateway.new_array(jvm.long, len(snapshots))
        for n, one in enumerate(snapshots):
            numbers[n] = one
        boxed = jvm.java.util.Arrays.stream(numbers).boxed()
        # A set, because of a list Iceberg would take the elements for snapshots.
        builder = builder.removeSnapshots(boxed.collect(jvm.java.util.stream.Collectors.toSet()))
    return builder.build()


def _manifests_named(table: IcebergTable, asked: tuple[str, ...]) -> list[str]:
    with clear_errors(table.name):
        named = table.spark.table(f"{table.sql}.all_manifests").select("path").distinct()
        found = named.where(F.col("path").isin(list(asked))).collect()
    # Read by its name: what was found counts only if the name still means this table.
    table.again()
    return [str(row["path"]) for row in found]
