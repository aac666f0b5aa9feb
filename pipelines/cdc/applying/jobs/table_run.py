"""One table of a pipeline while the program stays: applies its changes, or keeps them for later.

Whatever stands in the way (a hold, a pause, a schema that nobody has decided on, a failure), its
records are kept in files of their own and applied by version afterwards. So one table never stops
the others, and the changelog need not be kept for it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.messages import Column, Quarantined, TableOrder, TableReport
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.attempts import Attempts
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.lines import Group, changes_of, checked_groups, parsed
from pipelines.cdc.applying.jobs.samples import aside_counts, quarantined
from pipelines.cdc.applying.jobs.table import Counts, TableWriter
from pipelines.cdc.applying.jobs.target import java_text
from pipelines.cdc.changes.domain.records import decode_change
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation, StaleState
from portal.spark.java_errors import JAVA_ERRORS

FELL_BACK = "cdc.fell_back"
_MOST_FOREIGN = 10
_LOOK_SECONDS, _DAY_SECONDS = 3_600, 86_400


@dataclass
class TableRun:
    """The state of one table; `known` are the batches that it has, applied or kept."""

    writer: TableWriter
    waiting: KeptFiles
    known: Numbers
    replayed: tuple[str, ...] = ()
    retried: str = ""
    attempts: Attempts = field(default_factory=Attempts)
    counts: Counts = field(default_factory=Counts)
    n_waiting: dict[int, int] = field(default_factory=dict)
    in_waiting: Numbers = field(default_factory=Numbers)
    n_in_quarantine: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    aside: dict[str, int] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _dropped: tuple[str, ...] = ()
    _looks_at: float = 0.0
    _foreign: tuple[str, ...] = ()

    @property
    def order(self) -> TableOrder:
        """What is to be done with the table."""
        return self.writer.order

    def open(self) -> None:
        """Read what is kept, and the table's columns."""
        self.n_waiting, self.in_waiting = {}, Numbers()
        if files := self.waiting.files():
            rows = self.waiting.read(files).groupBy("schema", "number").count().collect()
            for row in rows:
                self._note_waiting(int(row["schema"]), int(row["count"]))
            self.in_waiting = Numbers.of(int(row["number"]) for row in rows)
        self._count_quarantine()
        self.aside = aside_counts(self.writer.aside)
        self.columns = self.writer.target.columns()

    def adopt(self, order: TableOrder) -> None:
        """Take newer orders; what failed is tried again with them at once."""
        with self._lock:
            if order != self.order:
                self.writer.target = replace(self.writer.target, order=order)
                self.attempts.hurry()

    def take(self, records: DataFrame, groups: Sequence[Group], numbers: Numbers) -> None:
        """Apply the table's records of some batches, or keep them."""
        with self._lock:
            wanted = [one for one in numbers.each() if one not in self.known]
            if not wanted:
                return
            changes = changes_of(records, self.order.db, self.order.table)
            if len(wanted) < numbers.count:
                changes = changes.where(F.col("number").isin(wanted))
            fit = [one for one in groups if self._may_apply(one.schema)]
            rest = [one for one in self._needed(groups) if one not in fit]
            if rest:
                # First: a commit names batches of which nothing waits, and is believed.
                self._keep(changes, rest, numbers)
            if fit:
                self._apply_or_keep(changes, fit, numbers)
            self.known |= numbers

    def pass_by(self, numbers: Numbers) -> None:
        """Note batches that have nothing of the table."""
        with self._lock:
            self.known |= numbers

    def tend(self) -> bool:
        """Do what waits and may be done now; returns whether anything was done."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self.order.state != "live" or not self.attempts.is_due:
                return False
            return self._guarded(self._tend)
        finally:
            self._lock.release()

    def report(self) -> TableReport:
        """Say how far the table is."""
        marks = self.writer.marks
        state: Any = self.order.state
        is_failing = state == "live" and self.attempts.failure is not None
        return TableReport(
            id=self.order.id,
            state="failing" if is_failing else state,
            batch=self.known.last,
            batches=str(marks.batches),
            version=marks.version,
            position=marks.position,
            changed_at=marks.changed_at,
            n_upserted=self.counts.n_upserted,
            n_deleted=self.counts.n_deleted,
            n_late=self.counts.n_late,
            n_quarantined=self.counts.n_quarantined,
            n_aside=self.counts.n_aside,
            n_waiting=sum(self.n_waiting.values()),
            n_in_quarantine=self.n_in_quarantine,
            quarantined=self.quarantined,
            aside=self.aside,
            waiting_schemas=tuple(sorted(self.n_waiting)),
            columns=self.columns,
            replayed=self.replayed,
            retried=self.retried,
            foreign=self._foreign,
            failure=self.attempts.failure,
        )

    def _may_apply(self, schema: int) -> bool:
        is_live = self.order.state == "live" and self.attempts.failure is None
        return is_live and self.order.plan(schema) is not None

    def _apply_or_keep(self, changes: DataFrame, groups: Sequence[Group], numbers: Numbers) -> None:
        def work() -> bool:
            self._apply(changes, groups, (self.known | numbers) - self.in_waiting)
            return True

        if not self._guarded(work):
            self._keep(changes, groups, numbers)

    def _apply(self, changes: DataFrame, groups: Sequence[Group], batches: Numbers) -> None:
        """Apply groups of records; `batches` are those that the table has with them, whole."""
        for group in groups:
            self._check_columns(group)
        self._check_marks()
        # Before any row: under a global index Hudi reads old rows by the columns of the new ones.
        self._evolve()
        schemas = [one.schema for one in groups]
        wanted = changes.where(F.col("schema").isin(schemas))
        found = self.writer.apply(wanted, schemas, batches, n=sum(one.n for one in groups))
        self.counts.add(found)
        self.columns = self.columns or self.writer.target.columns()
        if found.n_quarantined:
            self._count_quarantine()
        if found.n_aside:
            self.aside = aside_counts(self.writer.aside)

    def _check_columns(self, group: Group) -> None:
        """Refuse a plan that names columns which its records do not have: they would be NULL.

        Raises:
            RuleViolation: `cdc.plan`.
        """
        plan = self.order.plan(group.schema)
        if plan is None or not group.sample:
            return
        has = decode_change(group.sample.encode()).after or {}
        if missing := sorted({*plan.live, *plan.aside} - has.keys()):
            raise RuleViolation(
                "cdc.plan",
                f"{self.order.name}: records under schema {group.schema} have no columns "
                f"{', '.join(missing)}, which its plan names. Correct the plan.",
            )

    def _check_marks(self) -> None:
        """Make sure that the table is not older than this program left it.

        Raises:
            StaleState: `cdc.fell_back`.
        """
        now, known = self.writer.target.marks(), self.writer.marks
        self.writer.marks = now
        self._foreign = (*self._foreign, *now.foreign)[-_MOST_FOREIGN:]
        if now.number < known.number:
            self.known = now.batches
            raise fell_back(self.order.name)

    def _keep(self, changes: DataFrame, groups: Sequence[Group], numbers: Numbers) -> None:
        schemas = [one.schema for one in groups]
        rows = changes.where(F.col("schema").isin(schemas)).select("number", "schema", "value")
        self.waiting.add(rows)
        self.in_waiting |= numbers
        for group in groups:
            self._note_waiting(group.schema, group.n)

    def _note_waiting(self, schema: int, n: int) -> None:
        self.n_waiting[schema] = self.n_waiting.get(schema, 0) + n

    def _needed(self, groups: Sequence[Group]) -> list[Group]:
        return [one for one in groups if one.schema >= self.order.first_schema]

    def _tend(self) -> bool:
        done = self._evolve()
        done |= self._forget_older()
        done |= self._drop_refused()
        done |= self._forget_aside()
        done |= self._replay()
        done |= self._retry()
        done |= self._drain()
        return done

    def _evolve(self) -> bool:
        if not self.columns or self.columns == self.order.columns:
            return False
        self._check_marks()
        self.writer.evolve()
        now = self.writer.target.columns()
        if set(now) != set(self.order.columns):
            raise RuleViolation(
                "cdc.columns",
                f"{self.order.name}: the table in the lake has not taken its new columns; it has "
                f"{', '.join(f'{one.name} {one.type}' for one in now)}.",
            )
        self.columns = self.order.columns
        return True

    def _forget_older(self) -> bool:
        """Remove records that wait under schemas with which the table has no more to do."""
        if all(number >= self.order.first_schema for number in self.n_waiting):
            return False
        files = self.waiting.files()
        rest = self.waiting.read(files).where(F.col("schema") >= self.order.first_schema)
        if any(number >= self.order.first_schema for number in self.n_waiting):
            self.waiting.add(rest)
        self.waiting.remove(files)
        self.open()
        return True

    def _drop_refused(self) -> bool:
        if self.order.refused == self._dropped:
            return False
        gone = {f"of={name}" for name in self.order.refused}
        files = [one for one in self.writer.aside.files() if gone & set(str(one).split("/"))]
        self.writer.aside.remove(files)
        self._dropped = self.order.refused
        self.aside = aside_counts(self.writer.aside)
        return bool(files)

    def _forget_aside(self) -> bool:
        """Delete values that were kept aside for longer than is wanted; looked for once an hour."""
        if not self.order.aside_days or time.monotonic() < self._looks_at:
            return False
        self._looks_at = time.monotonic() + _LOOK_SECONDS
        oldest = time.time() - self.order.aside_days * _DAY_SECONDS
        if gone := self.writer.aside.remove_before(int(oldest * 1_000)):
            self.aside = aside_counts(self.writer.aside)
        return bool(gone)

    def _replay(self) -> bool:
        due = [one for one in self.order.replays if one.turn not in self.replayed]
        for one in due:
            self._check_marks()
            self.writer.fill(one.columns)
            self.replayed = (*self.replayed, one.turn)[-100:]
        return bool(due)

    def _retry(self) -> bool:
        """Apply the records in quarantine again; those that still do not fit come back to it."""
        if self.order.retry == self.retried:
            return False
        self._apply_kept(self.writer.quarantine, Numbers())
        self._count_quarantine()
        self.retried = self.order.retry
        return True

    def _drain(self) -> bool:
        """Apply the records that waited and may be applied; the others go on waiting."""
        if not any(self.order.plan(number) for number in self.n_waiting):
            return False
        self._apply_kept(self.waiting, self.in_waiting)
        self.open()
        return True

    def _apply_kept(self, kept: KeptFiles, numbers: Numbers) -> None:
        """Apply what may be applied of some files, keep the rest in new ones, remove the old."""
        files = kept.files()
        if not files:
            return
        rows = kept.read(files).select("number", "value").where("value != ''").distinct()
        records = parsed(rows).persist()
        try:
            groups = checked_groups(records)
            changes = changes_of(records, self.order.db, self.order.table)
            fit = [one for one in groups if self.order.plan(one.schema)]
            rest = [one for one in self._needed(groups) if one not in fit]
            left = self.in_waiting if rest else self.in_waiting - numbers
            if rest:
                self._keep(changes, rest, numbers)
            if fit:
                self._apply(changes, fit, self.known - left)
        finally:
            records.unpersist()
        kept.remove(files)

    def _guarded(self, work: Callable[[], bool]) -> bool:
        """Do something that may fail for this table alone; False where it did."""
        try:
            done = work()
        except StaleState as error:
            if error.code == FELL_BACK:
                raise
            self.attempts.failed(error)
            return False
        except PortalError as error:
            self.attempts.failed(error)
            return False
        except JAVA_ERRORS as error:
            self.attempts.failed(
                ExternalFailure(
                    "cdc.apply_failed",
                    f"{self.order.name}: {java_text(error)}. The run's log has the details.",
                    service="spark",
                    retryable=True,
                )
            )
            return False
        self.attempts.went_well()
        return done

    def _count_quarantine(self) -> None:
        self.n_in_quarantine, self.quarantined = quarantined(self.writer.quarantine, self.order)


def fell_back(table: str) -> StaleState:
    """Return the error of a table that lost commits of this program."""
    return StaleState(
        FELL_BACK,
        f"{table} was rolled back or restored: it has fewer batches than it had. The changelog is "
        "read again from where the table is.",
        table=table,
    )
