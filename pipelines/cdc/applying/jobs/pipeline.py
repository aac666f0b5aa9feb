"""One changelog: a streaming query that gives its batches to the tables.

A line that is no record, or a batch that is not whole, stops this pipeline with an error and others
go on: nothing is ever skipped. It is tried again after a pause that grows.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from pipelines.cdc.applying.domain.messages import Orders, PipelineOrder, PipelineReport
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.attempts import Attempts
from pipelines.cdc.applying.jobs.lines import Group, Head, changes_of, checked, parsed
from pipelines.cdc.applying.jobs.places import Places
from pipelines.cdc.applying.jobs.progress import PipelineProgress
from pipelines.cdc.applying.jobs.table_run import FELL_BACK, TableRun
from pipelines.cdc.applying.jobs.target import JAVA_ERRORS, java_text
from pipelines.cdc.changes.connectors.directory_log import batch_numbers
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState


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
    _query: StreamingQuery | None = None
    _is_stopping: bool = False
    _is_moved: bool = False
    _busy: threading.Lock = field(default_factory=threading.Lock)
    _head: Head | None = None
    _lag: float = 0.0
    _n_changes: int = 0
    _unknown: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._progress = PipelineProgress(self.places.fs, self.places.root)

    def adopt(self, order: PipelineOrder, orders: Orders) -> None:
        """Take newer orders."""
        with self._busy:
            if order.retry != self.order.retry:
                self.attempts.hurry()
            self.order, self.orders = order, orders
            if self._query is not None:
                self._open_tables()

    def tend(self) -> bool:
        """Start or stop the query as ordered, do what waits; returns whether anything was."""
        if self._is_moved:
            # A table of another place needs the whole changelog; others skip what they have.
            self.stop()
            self._is_moved = False
        if self.order.is_paused:
            is_changed = self._query is not None
            self.stop()
            return is_changed
        if self._query is None:
            return self.attempts.is_due and not self.is_finished and self._start()
        if not self._query.isActive:
            return self._ended()
        return self._tend_tables()

    def stop(self) -> None:
        """End the query after the batch that it is at."""
        query, self._query = self._query, None
        if query is None:
            return
        self._is_stopping = True
        with self._busy:
            pass
        # Not under the lock: Spark waits for a batch that would wait for it.
        query.stop()
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
            unknown=dict(self._unknown),
            failure=self.attempts.failure,
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
            self._check_trimmed()
            self._query = self._stream()
        except PortalError as error:
            self._failed(error)
        except JAVA_ERRORS as error:
            self._failed(_unexpected(self.order.changelog, error))
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
                self._progress.begin_again()
                self._is_moved = self._query is not None
            elif not self._progress.knows(table):
                # What came of a new table before its order waits beside it.
                table.known |= self._progress.seen
            self.tables[table.order.name] = table

    def _check_trimmed(self) -> None:
        """Make sure that the changelog still has what any table needs next.

        Raises:
            StaleState: `cdc.trimmed`.
        """
        numbers = self._numbers()
        first = self.order.first_batch
        needed = [
            (table.known | table.in_waiting).first_missing(max(first, table.order.first_batch))
            for table in self.tables.values()
        ]
        if numbers and needed and min(needed) < min(numbers):
            raise StaleState(
                "cdc.trimmed",
                f"Batch {min(needed)} was removed from {self.order.changelog} before it was "
                f"applied; the first that is there is {min(numbers)}. Load the tables again.",
            )

    def _numbers(self) -> list[int]:
        try:
            names = self.places.fs.names(self.places.batches(self.order))
        except NotVisible as error:
            raise ExternalFailure(
                "cdc.no_changelog",
                f"{self.order.changelog} has no changelog yet; it is looked for again.",
                service="storage",
                retryable=True,
            ) from error
        return batch_numbers(names)

    def _stream(self) -> StreamingQuery:
        number = F.regexp_extract(F.col("_metadata.file_name"), r"^(\d{20})", 1)
        lines = (
            self.places.spark.readStream.format("text")
            .option("lineSep", "\n")
            .option("pathGlobFilter", "[0-9]*.jsonl")
            .option("maxFilesPerTrigger", self.orders.most_batches_at_once)
            # Spark would leave out files that are a week older than the newest.
            .option("maxFileAge", "36500d")
            .load(str(self.places.batches(self.order)))
            .select(number.cast("bigint").alias("number"), "value")
        )
        writer = lines.writeStream.foreachBatch(self._take).option(
            "checkpointLocation", str(self._progress.checkpoint_path)
        )
        once: Any = (
            {"availableNow": True} if not self.is_staying else {"processingTime": "1 second"}
        )
        return writer.trigger(**once).start()

    def _take(self, lines: DataFrame, _: int) -> None:
        """Give some batches to the tables, many at once."""
        with self._busy:
            if self._is_stopping:
                raise StaleState(
                    "cdc.stopping", "The program ends; the batch is applied by the next."
                )
            try:
                records = parsed(lines).persist()
                try:
                    self._give(records, *checked(records))
                finally:
                    records.unpersist()
            except PortalError as error:
                self._failed(error)
                raise
            except JAVA_ERRORS as error:
                self._failed(_unexpected(self.order.changelog, error))
                raise

    def _give(self, records: DataFrame, groups: list[Group], heads: list[Head]) -> None:
        numbers = Numbers.of(head.number for head in heads)
        by_table: dict[str, list[Group]] = {}
        for group in groups:
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
        self._progress.seen |= numbers
        self._progress.save(self.tables.values())
        self._head = max([*heads, *filter(None, [self._head])], key=lambda one: one.number)
        self._lag = max(0.0, datetime.now(UTC).timestamp() - self._head.at / 1000)
        self._n_changes += sum(group.n for group in groups)
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

    def _ended(self) -> bool:
        query, self._query = self._query, None
        found = query.exception() if query is not None else None
        if isinstance(found, StreamingQueryException) and self.attempts.failure is None:
            self._failed(_unexpected(self.order.changelog, found))
        if found is None and not self.is_staying:
            while self._tend_tables():
                pass
            self.is_finished = True
        return True

    def _failed(self, error: PortalError) -> None:
        fell_back = error.code == FELL_BACK
        self.attempts.failed(error, at_once=fell_back)
        if fell_back:
            self._progress.begin_again()
            self._progress.save(self.tables.values())
        else:
            self.is_finished = not self.is_staying


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
