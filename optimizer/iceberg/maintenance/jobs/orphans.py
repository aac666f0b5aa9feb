"""Lists the orphan files of a table for people, and moves what they approved into quarantine.

Creating a list touches nothing. The act looks at every approved name again (same size, same time,
still unknown) and moves only what is as it was; a commit in its midst makes it read the names
again. Files are moved by rename within the table's place, and deleted only after the days that the
list states.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.core.jobs.stops import STOPS
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, metadata_of
from optimizer.iceberg.maintenance.domain.orphans import (
    FoundFile,
    Known,
    Left,
    old_before_ms,
    reason_left,
)
from optimizer.iceberg.maintenance.domain.quarantine import MANIFEST, QUARANTINE, file_name
from optimizer.iceberg.maintenance.jobs.borrowers import check_not_borrowed
from optimizer.iceberg.maintenance.jobs.expire import SAMPLE, reported_metadata
from optimizer.iceberg.maintenance.jobs.orphan_listing import (
    compare,
    known_among,
    list_place,
    names_of,
)
from optimizer.iceberg.maintenance.jobs.removal_orders import RemovalAsk, RemovalResult, head_of
from optimizer.iceberg.rewrite.jobs.staging import BURIED, StagingArea
from optimizer.removals.jobs.guard import RemovalGuard, wall_clock
from optimizer.removals.jobs.list import MOST_ITEMS, Approved, approved_bytes, read_list, write_list
from optimizer.removals.jobs.location_overlap import own_place
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.lake.counts import count_words
from portal.lake.errors import NotVisible, PortalError, RuleViolation, StaleState
from portal.lake.paths import LakePath
from portal.safety.fence import Fence

BATCH = 500
"""So many files are moved before the table is looked at again."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A file of the approved list that is as it was, with its place on the list."""

    place: int
    file: FoundFile


@dataclass(frozen=True, slots=True)
class Aside:
    """Where the files of one list are moved: the directory that the launcher made."""

    fs: FileSystem
    place: LakePath
    directory: LakePath

    def keep_manifest(self, data: bytes) -> None:
        """Write the approved list beside the files before the first is moved.

        Raises:
            StaleState: `act.fenced`, the directory is gone: the run was taken over.
        """
        try:
            self.fs.write_new(self.directory.child(MANIFEST), data)
        except StaleState as error:
            raise StaleState(
                "act.fenced", "This run was taken over.", path=self.directory
            ) from error

    def move(self, one: Approval) -> bool:
        """Move one file; False where it went away a moment ago.

        Raises:
            StaleState: `act.fenced`, as `keep_manifest`.
        """
        target = self.directory.child(file_name(one.place))
        fence = Fence(self.fs, self.directory, clock=wall_clock)
        try:
            fence.move(one.file.path, target, sync=False)
        except StaleState as error:
            if error.code != "fs.missing":
                raise
            # Of a rename whose answer was lost only the other end tells.
            return self.fs.status(target) is not None
        return True

    def names(self) -> set[str]:
        """Return what lies in the directory."""
        return set(self.fs.names(self.directory))


@dataclass
class OrphanWork(TaskExecutor):
    """The removal of files that a table does not know."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ask = RemovalAsk.of(self.order)
        self.told = RemovalResult(self.order.task, self.result.table)
        self.result = self.told
        self.before_ms = old_before_ms(orphan_days=self.ask.orphan_days, now=self.job.now)

    def count(self, table: IcebergTable) -> dict[str, int]:
        """Count nothing beforehand: what the table knows does not change."""
        return {}

    def work(self, table: IcebergTable) -> None:
        """Draw the list up, or remove what was approved and still is an orphan."""
        place = self.job.config.path(table.location)
        fs = open_file_system(place, config=self.job.config, acls=False)
        _check_may_collect(table)
        with own_place(self.job, db=self.order.db, table=self.order.table, place=place) as own:
            self._check(table, place, fs)
            if self.ask.approved is None:
                self._propose(table, place)
            else:
                guard = RemovalGuard(self.job, self.order.task, place=own)
                aside = Aside(fs, place, self._quarantine(place))
                self._act(table, aside, guard, self.ask.approved)

    def _check(self, table: IcebergTable, place: LakePath, fs: FileSystem) -> None:
        """Refuse where another table may use these files, or where a rewrite is under way."""
        name = f"{self.order.db}.{self.order.table}"
        check_not_borrowed(self.job.spark, self.ask.borrowers, table=name, place=place)
        area = StagingArea(
            table,
            deployment=self.job.config.deployment_id,
            run=f"{self.job.run}-{self.job.epoch}",
            fail=self.fail,
        )
        area.sweep()
        _check_no_staging(table, place, fs)

    def _propose(self, table: IcebergTable, place: LakePath) -> None:
        # Listed first, named afterwards: what is committed in between is known.
        listed = list_place(self.job, place, before_ms=self.before_ms, task=self.order.task)
        named = names_of(table.again())
        found = compare(self.job, listed, named, table=table.name, most=MOST_ITEMS)
        taken = found.first
        if not taken:
            data = _said(found.left)
            self.result.notes.append(f"There is no orphan file: {data or 'there is no file'}.")
            return
        items = [{"path": str(one.path), "size": one.size, "mtime": one.mtime_ms} for one in taken]
        snapshot_id = table.snapshot_id or None
        head = {**self._head(place), "snapshot_id": snapshot_id}
        uri, digest = write_list(self.job, self.order.task, head=head, items=items)
        n_more = found.n_found - len(taken)
        self.told.proposal = {
            "uri": uri,
            "digest": digest,
            "snapshot_id": snapshot_id,
            "n_items": len(taken),
            "n_files": len(taken),
            "n_bytes": sum(one.size for one in taken),
            "files": {},
            "stays": found.left,
            "sample": [str(one.path) for one in taken[:SAMPLE]],
            "notes": [f"{n_more} more wait for the next list."] if n_more else [],
            "quarantine_days": self.ask.quarantine_days,
        }

    def _head(self, place: LakePath) -> dict[str, Any]:
        """Return what the list is about; its days in quarantine are approved with it."""
        days = self.ask.quarantine_days
        return {**head_of(self.order), "place": str(place), "quarantine_days": days}

    def _act(
        self, table: IcebergTable, aside: Aside, guard: RemovalGuard, approved: Approved
    ) -> None:
        about = {**head_of(self.order), "place": str(aside.place)}
        listed = read_list(self.job, approved, about=about)
        left: Counter[str] = Counter()
        there = list(_looked_at(aside.fs, self.job.config.path, listed, left))
        self.result.before = {"n_orphans": len(there)}
        guard.check()
        aside.keep_manifest(approved_bytes(self.job, approved))
        try:
            self._move(table, aside, guard, there, left)
        except PortalError as error:
            self.result.errors.append(error)
            if error.code in STOPS:
                self.result.notes.append("The rest stays where it is.")
        # Listed, not counted: also a move whose answer was lost has been done or not.
        names = aside.names()
        gone = [one.file for one in there if file_name(one.place) in names]
        if not gone and self.result.errors:
            raise self.result.errors.pop()
        self._tell(gone, len(there), left)

    def _tell(self, gone: Sequence[FoundFile], n_there: int, left: Counter[str]) -> None:
        self.result.after = {"n_orphans": n_there - len(gone)}
        n_bytes = sum(one.size for one in gone)
        if gone:
            self.told.removed = {
                "n_items": len(gone),
                "n_files": len(gone),
                "n_bytes": n_bytes,
                "files": {},
            }
        data = _said(left)
        words = f"{count_words(len(gone), 'orphan file')} moved into quarantine, {n_bytes} bytes."
        self.result.notes.insert(0, f"{words} Left: {data}." if data else words)

    def _quarantine(self, place: LakePath) -> LakePath:
        """Return the directory that the launcher made for this list, below the table's place.

        Raises:
            RuleViolation: `removal.quarantine`.
        """
        found = self.job.config.path(self.ask.quarantine) if self.ask.quarantine else None
        if found is None or found.parent != place.child(QUARANTINE):
            raise RuleViolation(
                "removal.quarantine",
                f"{self.order.db}.{self.order.table} has moved, or its place has no quarantine: "
                f"{self.ask.quarantine or 'none was made'}. Nothing is removed; have the list "
                "created again.",
            )
        return found

    def _move(
        self,
        table: IcebergTable,
        aside: Aside,
        guard: RemovalGuard,
        files: Sequence[Approval],
        left: Counter[str],
    ) -> None:
        """Move the files aside, some at a time.

        Raises:
            PortalError: what ended it; what was moved by then lies in the quarantine.
        """
        at, known = "", Known()
        for start in range(0, len(files), BATCH):
            batch = files[start : start + BATCH]
            about = {"quarantine": str(aside.directory), "first": batch[0].place, "n": len(batch)}
            with guard.step(about) as told:
                _check_no_staging(table, aside.place, aside.fs)
                table = table.again()
                if metadata_of(table) != at:
                    at = metadata_of(table)
                    known = known_among(table, [one.file for one in files[start:]])
                moved = [one for one in batch if self._moved(aside, guard, one, known, left)]
                parents = {one.file.path.parent for one in moved}
                aside.fs.sync_directories([aside.directory, *parents])
                told["n_files"] = len(moved)

    def _moved(
        self,
        aside: Aside,
        guard: RemovalGuard,
        one: Approval,
        known: Known,
        left: Counter[str],
    ) -> bool:
        reason = reason_left(one.file, place=aside.place, known=known, before_ms=self.before_ms)
        if reason is None:
            guard.check_often()
            with self.fail.step("orphan"):
                if aside.move(one):
                    return True
            reason = Left.CHANGED
        left[str(reason)] += 1
        return False


_WORDS: dict[str, str] = {
    Left.OUTSIDE: "outside of the table's place",
    Left.HIDDEN: "below names that begin with _ or .",
    Left.YOUNG: "too young",
    Left.KNOWN: "that the table knows",
    Left.DOUBTFUL: "whose name the table knows under another path",
    Left.CHANGED: "gone or written again since",
}


def _check_may_collect(table: IcebergTable) -> None:
    if not reported_metadata(table).may_collect:
        raise RuleViolation(
            "removal.gc",
            f"{table.name} forbids that its files are deleted (gc.enabled is false), often "
            "because another table uses them too. Nothing is removed.",
        )


def _said(left: Counter[str] | dict[str, int]) -> str:
    return ", ".join(f"{n} {_WORDS[reason]}" for reason, n in Counter(left).most_common())


def _check_no_staging(table: IcebergTable, place: LakePath, fs: FileSystem) -> None:
    """Refuse while any marker stands: files of a rewrite lie there that no snapshot names yet."""
    try:
        names = fs.names(place.child("_lakewarden"))
    except NotVisible:
        return
    marks = [name for name in names if not name.startswith(".") and not name.endswith(BURIED)]
    if marks:
        raise RuleViolation(
            "removal.staging",
            f"A rewrite of {table.name} is under way, or one died and is not cleared up yet "
            f"({len(marks)} markers). Nothing is removed now; it is proposed again later.",
        )


def _looked_at(
    fs: FileSystem, parse: Any, listed: Sequence[dict[str, Any]], left: Counter[str]
) -> Iterator[Approval]:
    """Return the files of the list that are as they were when it was created."""
    for place, one in enumerate(listed):
        path = parse(one["path"])
        found = fs.status(path)
        if (
            found is None
            or found.is_dir
            or (found.size, found.mtime_ms)
            != (
                one["size"],
                one["mtime"],
            )
        ):
            left[str(Left.CHANGED)] += 1
        else:
            yield Approval(place, FoundFile(path, found.size, found.mtime_ms))
