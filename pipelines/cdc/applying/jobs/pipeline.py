"""One changelog: reads its batches in their order and gives them to the tables.

A batch that is not whole stops this pipeline with an error and others go on: nothing is ever
skipped. It is tried again after a pause that grows.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame

from pipelines.cdc.applying.domain.messages import Orders, PipelineOrder, PipelineReport
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.attempts import Attempts
from pipelines.cdc.applying.jobs.lines import (
    Checked,
    Group,
    Head,
    bad_of,
    changes_of,
    checked,
    parsed,
)
from pipelines.cdc.applying.jobs.places import Places
from pipelines.cdc.applying.jobs.progress import PipelineProgress
from pipelines.cdc.applying.jobs.reading.batches import Batches
from pipelines.cdc.applying.jobs.table_run import FELL_BACK, TableRun
from pipelines.cdc.applying.jobs.target import java_text
from pipelines.cdc.changes.domain.changelog import trimmed
from portal.lake.errors import ExternalFailure, PortalError, StaleState
from portal.spark.java_errors import JAVA_ERRORS


@dataclass
class PipelineRun:
    """The state of one pipeline; `write` takes a report's name and content."""

    order: PipelineOrder
    orders: Orders
    places: Places
    pool: Executor
    write: Callable[[str, Any], None]
    is_staying: bool
    tables: dict[str, TableRun] = field(default_factory=dict)
    attempts: Attempts = field(default_factory=Attempts)
    is_finished: bool = False
    _progress: PipelineProgress = field(init=False)
    _batches: Batches | None = None
    _reading: Future[None] | None = None
    _is_stopping: bool = False
    _is_moved: bool = False
    _busy: threading.Lock = field(default_factory=threading.Lock)
    _head: Head | None = None
    _lag: float = 0.0
    _n_changes: int = 0
    _n_unreadable: int = 0
    _unknown: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._progress = PipelineProgress(self.places.fs, self.places.root)
        self._reader = ThreadPoolExecutor(1, f"pipeline-{self.order.id}")

    def adopt(self, order: PipelineOrder, orders: Orders) -> None:
        """Take newer orders."""
        with self._busy:
            if order.retry != self.order.retry:
                self.attempts.hurry()
            self.order, self.orders = order, orders
            if self._batches is not None:
                self._open_tables()

    def tend(self) -> bool:
        """Start or stop reading as ordered, do what waits; returns whether anything was."""
        if self._is_moved:
            # A table of another place may need batches that were read; others skip what they have.
            self.stop()
            self._is_moved = False
        if self.order.is_paused:
            is_changed = self._batches is not None
            self.stop()
            return is_changed
        if self._batches is None:
            return self.attempts.is_due and not self.is_finished and self._start()
        if self._reading is None:
            self._reading = self._reader.submit(self._read_on, self._batches)
        elif self._reading.done():
            return self._has_read(self._reading)
        return self._tend_tables()

    def stop(self) -> None:
        """End reading after the batch that it is at."""
        batches, self._batches = self._batches, None
        reading, self._reading = self._reading, None
        if batches is None:
            return
        self._is_stopping = True
        if reading is not None:
            wait([reading])
        batches.close()
        self._is_stopping = False

    def report(self) -> None:
        """Write how far the pipeline and its tables are."""
        running: Any = (
            "paused" if self.order.is_paused else "failing" if self.attempts.failure else "running"
        )
        said = PipelineReport(
            id=self.order.id,
            state=running,
            batch=self._head.number if self._head else 0,
            position=self._head.end if self._head else "",
            captured_at=self._head.at if self._head else 0,
            lag_seconds=self._lag,
            n_changes=self._n_changes,
            n_unreadable=self._n_unreadable,
            unknown=dict(self._unknown),
            failure=self.attempts.failure,
            **(self._batches.told() if self._batches else {}),
        )
        self.write(f"pipelines/{self.order.id}.json", said)
        for table in self.tables.values():
            self.write(f"tables/{table.order.id}.json", table.report())

    def _start(self) -> bool:
        try:
            self._progress.load()
            with self._busy:
                self.tables = {}
                self._open_tables()
            batches = self.places.batches(self.order)
            self._begin(batches.numbers())
            self._n_unreadable = self.places.n_unreadable()
            self._progress.save(self.tables.values())
            self._batches = batches
            self._reading = self._reader.submit(self._read_on, batches)
        except PortalError as error:
            self._failed(error)
        except JAVA_ERRORS as error:
            self._failed(_unexpected(self.order.name, error))
        return True

    def _open_tables(self) -> None:
        orders = {one.name: one for one in self.order.tables}
        self.tables = {
            name: one
            for name, one in self.tables.items()
            if name in orders and one.order.location == orders[name].location
        }
        for name, table in self.tables.items():
            table.adopt(orders[name])
        new = [order for name, order in orders.items() if name not in self.tables]
        for table in self.pool.map(self.places.opened, new):
            if not self._progress.restore(table):
                self._is_moved = self._batches is not None
            self.tables[table.order.name] = table

    def _missing(self) -> list[int]:
        """Return the first batch that each table needs."""
        first = self.order.first_batch
        return [
            (table.known | table.in_waiting).first_missing(max(first, table.order.first_batch))
            for table in self.tables.values()
        ]

    def _begin(self, numbers: Sequence[int]) -> None:
        """Begin with what any table needs next; a table that has a batch already skips it.

        Raises:
            StaleState: `cdc.trimmed`.
        """
        missing = self._missing()
        if numbers and missing and min(missing) < numbers[0]:
            raise trimmed(min(missing), numbers[0])
        has = max((table.writer.marks.batches.last for table in self.tables.values()), default=0)
        if has > (numbers[-1] if numbers else 0):
            raise StaleState(
                "cdc.changelog_replaced",
                f"{self.order.name} ends before batch {has}, which a table has: it is not the "
                "changelog that was applied. Bring it back, or create a new pipeline and tables.",
            )
        # A table that was restored to an earlier commit gets its changes again.
        last = min([self._progress.read, *(number - 1 for number in missing)])
        self._progress.read = max(last, numbers[0] - 1) if numbers else last

    def _read_on(self, batches: Batches) -> None:
        """Give the tables all that is there, some batches at once."""
        while not self._is_stopping:
            with self._busy:
                numbers = self._next(batches.numbers())
                if not numbers:
                    return
                try:
                    lines = batches.lines(numbers)
                except StaleState:
                    if numbers[0] >= self.order.first_batch:
                        raise
                    # Tables were loaded again since: nobody needs what is gone.
                    self._progress.read = self.order.first_batch - 1
                    continue
                records = parsed(lines).persist()
                try:
                    self._give(records, checked(records, keeps_bad=batches.keeps_bad))
                finally:
                    records.unpersist()
                batches.forget(numbers[-1])

    def _next(self, numbers: Sequence[int]) -> list[int]:
        """Return the batches that come next, as many as become one commit.

        Raises:
            StaleState: `cdc.trimmed`.
        """
        last = self._progress.read
        new = [number for number in numbers if number > last][: self.orders.most_batches_at_once]
        if new and new[0] != last + 1:
            raise trimmed(last + 1, new[0])
        return [number for n, number in enumerate(new) if number == last + 1 + n]

    def _give(self, records: DataFrame, found: Checked) -> None:
        if found.n_bad:
            self._n_unreadable = self.places.keep_unreadable(bad_of(records))
        numbers = Numbers.of(head.number for head in found.heads)
        by_table: dict[str, list[Group]] = {}
        for group in found.groups:
            by_table.setdefault(group.name, []).append(group)
        tasks = []
        for name, table in self.tables.items():
            if name in by_table:
                tasks.append(self.pool.submit(table.take, records, by_table[name], numbers))
            else:
                table.pass_by(numbers)
        for name in by_table.keys() - self.tables.keys():
            self._keep_unknown(records, by_table[name])
        _all_done(tasks)
        self._progress.read = numbers.last
        self._progress.save(self.tables.values())
        self._head = found.heads[-1]
        self._lag = max(0.0, datetime.now(UTC).timestamp() - self._head.at / 1000)
        self._n_changes += sum(group.n for group in found.groups)
        self.attempts.went_well()
        self.report()

    def _keep_unknown(self, records: DataFrame, groups: list[Group]) -> None:
        """Keep records of a table without an order, for the order that may come."""
        name = groups[0].name
        rows = changes_of(records, groups[0].db, groups[0].table)
        self.places.waiting(name).add(rows.select("number", "schema", "value"))
        self._unknown[name] = self._unknown.get(name, 0) + sum(group.n for group in groups)

    def _tend_tables(self) -> bool:
        done = False
        for table in list(self.tables.values()):
            try:
                done |= table.tend()
            except StaleState as error:
                self.stop()
                self._failed(error)
                return True
        if done:
            with self._busy:
                self._progress.save(self.tables.values())
        return done

    def _has_read(self, reading: Future[None]) -> bool:
        """Take in how reading ended; returns whether there was something to tell."""
        self._reading = None
        error = reading.exception()
        if isinstance(error, PortalError):
            self.stop()
            self._failed(error)
        elif isinstance(error, JAVA_ERRORS):
            self.stop()
            self._failed(_unexpected(self.order.name, error))
        elif error is not None:
            raise error
        elif self.is_staying:
            return self._tend_tables()
        else:
            while self._tend_tables():
                pass
            self.is_finished = True
        return True

    def _failed(self, error: PortalError) -> None:
        fell_back = error.code == FELL_BACK
        self.attempts.failed(error, at_once=fell_back)
        self.is_finished = not (fell_back or self.is_staying)


def _all_done(tasks: Iterable[Any]) -> None:
    """Wait for all, and raise what the first failed one raised."""
    failed = [error for task in tasks if (error := task.exception()) is not None]
    if failed:
        raise failed[0]


def _unexpected(changelog: str, error: Exception) -> ExternalFailure:
    return ExternalFailure(
        "cdc.stream_failed",
        f"Reading {changelog} failed: {java_text(error)}. The run's log has the details.",
        service="spark",
        retryable=True,
    )
