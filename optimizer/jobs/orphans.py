"""How do orphan files go: our own listing against all that the table's metadata names?

Drawing up touches nothing. The act looks at every approved name again (same size, same time, still
unknown) and removes only what is as it was; a commit in its midst makes it read the names anew.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as F

from optimizer.domain.metadata_said import MetadataSaid
from optimizer.domain.orphans import FoundFile, Known, Left, old_before_ms, why_left
from optimizer.jobs.expire import SAMPLE, metadata_rows, said_of
from optimizer.jobs.iceberg import IcebergTable
from optimizer.jobs.iceberg_errors import clear_errors
from optimizer.jobs.neighbours import check_alone
from optimizer.jobs.removal_list import MOST_ITEMS, read_list, write_list
from optimizer.jobs.removal_orders import Approved, RemovalAsk, RemovalResult, head_of
from optimizer.jobs.staging_area import StagingArea
from optimizer.jobs.work import STOPS, Work, check_stop
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.lake.errors import NotVisible, PortalError, RuleViolation
from portal.lake.paths import LakePath

BATCH = 100
"""So many files go before the red button and the table are looked at again."""


@dataclass
class OrphanWork(Work):
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
        self._check(table, place, fs)
        if self.ask.approved is None:
            self._propose(table, place, fs)
        else:
            self._act(table, place, fs, self.ask.approved)

    def _check(self, table: IcebergTable, place: LakePath, fs: FileSystem) -> None:
        """Refuse on any doubt about whose files these are, or where a rewrite is under way."""
        if not said_of(table).may_collect:
            raise RuleViolation(
                "removal.gc",
                f"{table.name} forbids that its files are deleted (gc.enabled is false), often "
                "because another table uses them too. Nothing is removed.",
            )
        names = (self.order.db, self.order.table)
        check_alone(self.job.spark, self.job.config, db=names[0], table=names[1], place=place)
        area = StagingArea(
            table,
            deployment=self.job.config.deployment_id,
            run=f"{self.job.run}-{self.job.epoch}",
            fail=self.fail,
        )
        area.sweep()
        _check_no_staging(table, place, fs)

    def _propose(self, table: IcebergTable, place: LakePath, fs: FileSystem) -> None:
        # Listed first, named afterwards: what is committed in between is known.
        listed = _listed(fs, place)
        known = known_of(table.again())
        found: list[FoundFile] = []
        left: Counter[str] = Counter()
        for file in listed:
            why = why_left(file, place=place, known=known, before_ms=self.before_ms)
            if why is None:
                found.append(file)
            else:
                left[str(why)] += 1
        taken = sorted(found, key=lambda one: one.path)[:MOST_ITEMS]
        if not taken:
            said = ", ".join(f"{n} {_WORDS[why]}" for why, n in left.most_common())
            self.result.notes.append(f"There is no orphan file: {said or 'there is no file'}.")
            return
        items = [{"path": str(one.path), "size": one.size, "mtime": one.mtime_ms} for one in taken]
        snapshot_id = table.snapshot_id or None
        head = {**head_of(self.order), "snapshot_id": snapshot_id, "place": str(place)}
        uri, digest = write_list(self.job, self.order.task, head=head, items=items)
        n_more = len(found) - len(taken)
        self.told.proposal = {
            "uri": uri,
            "digest": digest,
            "snapshot_id": snapshot_id,
            "n_items": len(taken),
            "n_files": len(taken),
            "n_bytes": sum(one.size for one in taken),
            "files": {},
            "stays": dict(left.most_common()),
            "sample": [str(one.path) for one in taken[:SAMPLE]],
            "notes": [f"{n_more} more wait for the next list."] if n_more else [],
        }

    def _act(
        self, table: IcebergTable, place: LakePath, fs: FileSystem, approved: Approved
    ) -> None:
        listed = read_list(self.job, approved, about={**head_of(self.order), "place": str(place)})
        left: Counter[str] = Counter()
        there = list(_looked_at(fs, self.job.config.path, listed, left))
        self.result.before = {"n_orphans": len(there)}
        gone = self._remove(table, place, fs, there, left)
        self.result.after = {"n_orphans": len(there) - len(gone)}
        n_bytes = sum(one.size for one in gone)
        if gone:
            self.told.removed = {
                "n_items": len(gone),
                "n_files": len(gone),
                "n_bytes": n_bytes,
                "files": {},
            }
        said = ", ".join(f"{n} {_WORDS[why]}" for why, n in left.most_common())
        words = f"{len(gone)} orphan files removed, {n_bytes} bytes."
        self.result.notes.insert(0, f"{words} Left: {said}." if said else words)

    def _remove(
        self,
        table: IcebergTable,
        place: LakePath,
        fs: FileSystem,
        files: Sequence[FoundFile],
        left: Counter[str],
    ) -> list[FoundFile]:
        """Remove the files, some at a time; what goes wrong ends it, and is told with what went."""
        gone: list[FoundFile] = []
        known, at = known_of(table), _metadata_of(table)
        try:
            for start in range(0, len(files), BATCH):
                check_stop(self.job, self.order.task)
                self.job.check_jvm()
                _check_no_staging(table, place, fs)
                table = table.again()
                if _metadata_of(table) != at:
                    known, at = known_of(table), _metadata_of(table)
                for file in files[start : start + BATCH]:
                    why = why_left(file, place=place, known=known, before_ms=self.before_ms)
                    if why is not None:
                        left[str(why)] += 1
                        continue
                    with self.fail.step("orphan"):
                        fs.remove_file(file.path)
                    gone.append(file)
        except PortalError as error:
            if not gone:
                raise
            self.result.errors.append(error)
            if error.code in STOPS:
                self.result.notes.append("The rest stays where it is.")
        return gone


_WORDS: dict[str, str] = {
    Left.OUTSIDE: "outside of the table's place",
    Left.HIDDEN: "below names that begin with _ or .",
    Left.YOUNG: "too young",
    Left.KNOWN: "that the table knows",
    Left.DOUBTFUL: "whose name the table knows under another path",
    Left.CHANGED: "gone or written again since",
}


def known_of(table: IcebergTable) -> Known:
    """Gather all that the table's metadata names: of every snapshot, branch and tag."""
    said = said_of(table)
    known = Known()
    with clear_errors(table.name):
        for what, column in (("ALL_FILES", "file_path"), ("ALL_MANIFESTS", "path")):
            rows = metadata_rows(table, table.java, what).select(F.col(column)).distinct()
            known.add(row[0] for row in rows.toLocalIterator())
    known.add(_of_metadata(said, _metadata_of(table)))
    return known


def _of_metadata(said: MetadataSaid, current: str) -> Iterator[str]:
    yield current
    yield from said.metadata_log
    yield from said.manifest_lists.values()
    yield from (one.path for one in said.statistics)


def _metadata_of(table: IcebergTable) -> str:
    return str(table.java.operations().current().metadataFileLocation())


def _check_no_staging(table: IcebergTable, place: LakePath, fs: FileSystem) -> None:
    """Refuse while any marker stands: files of a rewrite lie there that no snapshot names yet."""
    try:
        names = fs.names(place.child("_lakewarden"))
    except NotVisible:
        return
    marks = [name for name in names if not name.startswith(".")]
    if marks:
        raise RuleViolation(
            "removal.staging",
            f"A rewrite of {table.name} is under way, or one died and is not cleared up yet "
            f"({len(marks)} markers). Nothing is removed now; it is proposed again later.",
        )


def _listed(fs: FileSystem, place: LakePath) -> list[FoundFile]:
    return [FoundFile(one.path, one.size, one.mtime_ms) for one in fs.walk(place) if not one.is_dir]


def _looked_at(
    fs: FileSystem, parse: Any, listed: Sequence[dict[str, Any]], left: Counter[str]
) -> Iterator[FoundFile]:
    """Give the files of the list that are as they were when it was drawn up."""
    for one in listed:
        path = parse(one["path"])
        status = fs.status(path)
        is_same = status is not None and not status.is_dir
        if (
            status is None
            or not is_same
            or (status.size, status.mtime_ms)
            != (
                one["size"],
                one["mtime"],
            )
        ):
            left[str(Left.CHANGED)] += 1
        else:
            yield FoundFile(path, status.size, status.mtime_ms)
