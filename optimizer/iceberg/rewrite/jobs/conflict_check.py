"""Detects what others did to a plan's files since it was made, and whether a group is lost.

Asked between groups and before each costly write, so that work which no commit can save any more
ends early. Only what others took away is read: the files that their commits removed, and the data
files and partitions that their new deletes mean. The commit itself still checks everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from optimizer.iceberg.access.jobs.errors import LOST_TO_OTHERS, clear_errors, conflict
from optimizer.iceberg.access.jobs.history import RUN_KEY
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, summary_of
from optimizer.iceberg.planner.domain.conflicts import CommitFact, lost_already
from optimizer.iceberg.rewrite.jobs.bin_packing import Group
from optimizer.iceberg.rewrite.jobs.planning import Plan, PlannedPartition, TaskColumns
from portal.lake.errors import PortalError

_ICEBERG = "org.apache.iceberg."
_DELETE_FILE = _ICEBERG + "DeleteFile"
_EVER = datetime.min.replace(tzinfo=UTC)
_NULL = "null"


@dataclass(frozen=True, slots=True)
class Change:
    """A commit of another writer, and what it took away."""

    at: datetime
    operation: str
    files: frozenset[str]
    partitions: frozenset[tuple[int, str]]


class ConflictChecker:
    """The changes of others since a plan, as far as they have been looked at; for many threads."""

    def __init__(self, plan: Plan, *, run: str) -> None:
        self._plan, self._run = plan, run
        self._table: IcebergTable | None = None
        self._seen = plan.snapshot_id
        self._changes: list[Change] = []
        self._cut = ""
        self._locations: dict[int, list[str]] = {}
        self._lock = Lock()

    def look(self) -> None:
        """Read what has been committed since the last look.

        Raises:
            PortalError: `iceberg.gone`, `.replaced`, `.not_iceberg`.
        """
        with self._lock:
            try:
                self._look()
            except PortalError as error:
                # What cannot be read now is told by the commit.
                if error.code in LOST_TO_OTHERS:
                    raise

    def check(self, partition: PlannedPartition, group: Group) -> None:
        """Refuse a group that others have touched, as far as was looked.

        Raises:
            StaleState: `iceberg.conflict`.
        """
        with self._lock, clear_errors(self._plan.table.name):
            facts = [
                CommitFact(
                    one.at,
                    one.operation,
                    frozenset({partition.partition} if self._hits(one, partition, group) else ()),
                )
                for one in self._changes
            ]
        reason = self._cut or lost_already(facts, partition=partition.partition, since=_EVER)
        if reason:
            raise conflict(self._plan.table.name, reason)

    def _hits(self, change: Change, partition: PlannedPartition, group: Group) -> bool:
        if (partition.spec_id, partition.partition) in change.partitions:
            return True
        if not change.files:
            return False
        columns, spec_id = self._plan.table.columns, partition.spec_id
        if spec_id not in self._locations:
            steps = TaskColumns(columns)
            self._locations[spec_id] = columns.read(partition.tasks, steps.file, steps.location)
        locations = self._locations[spec_id]
        return any(locations[file.n] in change.files for file in group.files)

    def _look(self) -> None:
        with clear_errors(self._plan.table.name):
            if self._table is None:
                self._table = self._plan.table.again()
            else:
                self._table.java.refresh()
            current = self._table.java.currentSnapshot()
            java = self._table.java
            found = [self._change(java, one) for one in self._since(java, current)]
        self._changes += [one for one in found if one is not None]
        self._seen = int(current.snapshotId()) if current is not None else 0

    def _since(self, java: Any, snapshot: Any) -> Iterator[Any]:
        """Yield main's snapshots after the last one seen, newest first."""
        while snapshot is None or int(snapshot.snapshotId()) != self._seen:
            if snapshot is None:
                self._cut = "The table was rolled back, or its history expired, since the plan."
                return
            yield snapshot
            parent = snapshot.parentId()
            if parent == self._seen:
                return
            snapshot = java.snapshot(parent) if parent is not None else None

    def _change(self, java: Any, snapshot: Any) -> Change | None:
        at = datetime.fromtimestamp(int(snapshot.timestampMillis()) / 1000, UTC)
        is_ours = summary_of(snapshot).get(RUN_KEY) == self._run
        fact = CommitFact(at, str(snapshot.operation() or ""), is_ours=is_ours)
        if fact.is_ours or not fact.can_conflict:
            return None
        table, io = self._plan.table, java.io()
        columns = table.columns
        removed = table.listed(snapshot.removedDataFiles(io))
        location = columns.step(_ICEBERG + "ContentFile", "location")
        files = columns.read(removed, location) if removed.size() else []
        scoped, partitions = self._deleted_in(java, table.listed(snapshot.addedDeleteFiles(io)))
        return Change(at, fact.operation, frozenset([*files, *scoped]), partitions)

    def _deleted_in(self, java: Any, deletes: Any) -> tuple[list[str], frozenset[tuple[int, str]]]:
        """Return the data files, and else the partitions, that new position deletes mean.

        Equality deletes apply to the new files as to the old: they are no conflict.
        """
        if not deletes.size():
            return [], frozenset()
        columns, content = self._plan.table.columns, _ICEBERG + "ContentFile"
        means = columns.step(
            _ICEBERG + "util.ContentFileUtil", "referencedDataFileLocation", _DELETE_FILE
        )
        kinds = columns.read(deletes, columns.step(content, "content"))
        meant = columns.read(deletes, means)
        files: list[str] = []
        partitions: set[tuple[int, str]] = set()
        for n, (kind, file) in enumerate(zip(kinds, meant, strict=True)):
            if kind == "EQUALITY_DELETES":
                continue
            if file != _NULL:
                files.append(file)
                continue
            one = deletes.get(n)
            spec_id = int(one.specId())
            path = str(java.specs().get(spec_id).partitionToPath(one.partition()))
            partitions.add((spec_id, path))
        return files, frozenset(partitions)
