"""Runs one expiry: creates a list for people, or expires what they approved.

Creating a list and acting ask the same questions in the same order; what the act finds changed it
leaves out, and says so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pyspark.sql import DataFrame

from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, metadata_of
from optimizer.iceberg.maintenance.domain.expiry import still_going
from optimizer.iceberg.maintenance.jobs.borrowers import check_not_borrowed
from optimizer.iceberg.maintenance.jobs.expire import (
    SAMPLE,
    Doomed,
    check_may_expire,
    doomed_by,
    expire,
    judged,
    reported_metadata,
)
from optimizer.iceberg.maintenance.jobs.expired_files import delete_files, kept_list
from optimizer.iceberg.maintenance.jobs.removal_orders import RemovalAsk, RemovalResult, head_of
from optimizer.iceberg.tables.domain.table_metadata import ReportedMetadata
from optimizer.removals.jobs.guard import RemovalGuard
from optimizer.removals.jobs.list import MOST_ITEMS, Approved, read_list, write_list
from optimizer.removals.jobs.location_overlap import OwnPlace, own_place
from portal.lake.counts import count_words
from portal.lake.errors import PortalError


@dataclass
class ExpiryWork(TaskExecutor):
    """The expiry of one table's old snapshots."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ask = RemovalAsk.of(self.order)
        self.told = RemovalResult(self.order.task, self.result.table)
        self.result = self.told

    def count(self, table: IcebergTable) -> dict[str, int]:
        """Count the snapshots: the current files do not change."""
        return _counts(reported_metadata(table))

    def work(self, table: IcebergTable) -> None:
        """Draw the list up, or expire what was approved and still may go."""
        said = reported_metadata(table)
        place, names = self.job.config.path(table.location), (self.order.db, self.order.table)
        with own_place(self.job, db=names[0], table=names[1], place=place) as own:
            check_not_borrowed(
                self.job.spark, self.ask.borrowers, table=".".join(names), place=place
            )
            if self.ask.approved is None:
                self._propose(table, said)
            else:
                self._act(table, said, self.ask.approved, own)

    def _propose(self, table: IcebergTable, said: ReportedMetadata) -> None:
        found = judged(said, self.ask, now=self.job.now)
        ids = found.goes[:MOST_ITEMS]
        if not ids:
            self.result.notes.append(_all_stay(found.n_stays))
            return
        check_may_expire(table, said, ids, now=self.job.now)
        doomed = doomed_by(table, said, ids, config=self.job.config)
        at = {one.snapshot_id: one.at for one in said.snapshots}
        head = {**head_of(self.order), "snapshot_id": said.snapshot_id}
        items = [{"snapshot_id": one, "at": at[one].isoformat()} for one in ids]
        uri, digest = write_list(self.job, self.order.task, head=head, items=items)
        self.told.proposal = {
            "uri": uri,
            "digest": digest,
            "snapshot_id": said.snapshot_id,
            "n_items": len(ids),
            "n_files": doomed.total,
            "n_bytes": doomed.n_bytes,
            "files": dict(doomed.n_files),
            "stays": found.n_stays,
            "oldest_at": at[ids[0]].isoformat(),
            "newest_at": at[ids[-1]].isoformat(),
            "sample": [f"{one}, committed {at[one]:%Y-%m-%d %H:%M} UTC" for one in ids[:SAMPLE]],
            "file_sample": list(doomed.sample),
        }

    def _act(
        self, table: IcebergTable, said: ReportedMetadata, approved: Approved, own: OwnPlace
    ) -> None:
        listed = read_list(self.job, approved, about=head_of(self.order))
        wanted = [int(one["snapshot_id"]) for one in listed]
        there = {one.snapshot_id for one in said.snapshots}
        ids = still_going(wanted, judged(said, self.ask, now=self.job.now))
        n_gone = len([one for one in wanted if one not in there])
        n_kept = len(wanted) - len(ids) - n_gone
        self._note_left_out(n_gone, n_kept)
        if not ids:
            return
        check_may_expire(table, said, ids, now=self.job.now)
        doomed = doomed_by(table, said, ids, config=self.job.config)
        guard = RemovalGuard(self.job, self.order.task, place=own)
        files = self._expired(guard, table, said, ids)
        gone: Counter[str] = Counter()
        try:
            if files is not None:
                delete_files(guard, table, kept_list(guard, files), gone=gone)
        except PortalError as error:
            self._left_files(error)
        self._done(table, ids, doomed, gone)

    def _expired(
        self, guard: RemovalGuard, table: IcebergTable, said: ReportedMetadata, ids: Sequence[int]
    ) -> DataFrame | None:
        """Commit the expiry; returns its files, or None where only a look says that it happened.

        Raises:
            PortalError: it did not happen.
        """
        about = {"snapshots": list(ids), "metadata": metadata_of(table), **head_of(self.order)}
        try:
            with guard.step(about) as told, self.fail.step("expire"):
                files = expire(table, ids)
                told["n_snapshots"] = len(ids)
                return files
        except PortalError as error:
            left = {one.snapshot_id for one in reported_metadata(table.again()).snapshots}
            if left & set(ids):
                raise
            self._left_files(error)
            return None

    def _left_files(self, error: PortalError) -> None:
        self.result.errors.append(error)
        self.result.notes.append(
            "The snapshots are expired; some of their files may be left, and the next "
            "inspection for "
            "orphan files finds those."
        )

    def _done(
        self, table: IcebergTable, ids: Sequence[int], doomed: Doomed, deleted: Mapping[str, int]
    ) -> None:
        self.told.removed = {
            "n_items": len(ids),
            "n_files": sum(deleted.values()),
            # Of a part the size is not known: Iceberg names the files without it.
            "n_bytes": 0 if self.result.errors else doomed.n_bytes,
            "files": dict(deleted),
        }
        said = ", ".join(f"{n} {kind}" for kind, n in deleted.items() if n)
        self.result.notes.insert(
            0, f"{count_words(len(ids), 'snapshot')} expired; deleted besides: {said or 'no file'}."
        )
        with suppress(PortalError):
            self.result.after = _counts(reported_metadata(table.again()))

    def _note_left_out(self, n_gone: int, n_kept: int) -> None:
        if n_gone:
            self.result.notes.append(f"{n_gone} of the approved snapshots were gone already.")
        if n_kept:
            self.result.notes.append(
                f"{n_kept} of the approved snapshots stay: since the approval they became current, "
                "a branch or tag holds them, or the policy keeps more."
            )


def _counts(said: ReportedMetadata) -> dict[str, int]:
    return {"n_snapshots": len(said.snapshots)}


def _all_stay(n_stays: dict[str, int]) -> str:
    words = {
        "CURRENT": "is the current one",
        "REFERENCED": "held by branches or tags",
        "TRIAL": "held by the trial of a layout",
        "BRANCH": "in the history of a branch",
        "STAGED": "written aside to be published",
        "YOUNG": "too young",
        "NEWEST": "among the newest",
    }
    said = ", ".join(f"{n} {words.get(reason, reason.lower())}" for reason, n in n_stays.items())
    return f"No snapshot can be removed: {said or 'there is none'}."
