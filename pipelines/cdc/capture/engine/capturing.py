"""The loop of one capture: resumes from the changelog's end, reads events and chunks, cuts batches.

Log and position are one write, so a capture may die at any line: whoever comes after reads the
same events again and gives them the same versions. While tables are loaded, a chunk is read after
each batch, and one after another while the log is quiet.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from pipelines.cdc.capture.domain import loads as full_loads
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.domain.ddl import Action, read_ddl
from pipelines.cdc.capture.domain.events import Committed, Event, Idle, Rows, Statement
from pipelines.cdc.capture.domain.loads import Load, Name
from pipelines.cdc.capture.domain.row_changes import changes_of, reads_of
from pipelines.cdc.capture.domain.watchdog import Watchdog
from pipelines.cdc.capture.engine.batching import Batching
from pipelines.cdc.capture.engine.ports import SourcePort
from pipelines.cdc.capture.engine.progress import Pace, Progress, Report
from pipelines.cdc.capture.engine.repairing import Repairing
from pipelines.cdc.capture.engine.schema_keeping import SchemaKeeping
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.safety.failpoints import Failpoints

_JSON_OVER_LOG = 2
"""Bytes of records for each byte of a row event, about."""
_WORDS = re.compile(r"\s*\w+(\s+[\w`.]+)?")
_REPORT_SECONDS = 1.0


@dataclass
class _State:
    """Where the loop is."""

    reached: Position
    """Where the last event that was read ends."""
    boundary: Position
    """Where the last transaction ends that was read whole."""
    loads: dict[Name, Load]
    event_at: int = 0
    is_quiet: bool = False


class Capture:
    """Reads a source into a changelog until it is asked to stop."""

    def __init__(
        self,
        config: SourceConfig,
        source: SourcePort,
        log: Changelog,
        *,
        report: Report,
        failpoints: Failpoints,
    ) -> None:
        self._config = config
        self._source = source
        self._failpoints = failpoints
        self._report = report
        self._schemas = SchemaKeeping(source, log, failpoints)
        self._state = self._resumed(log)
        self._repairing = Repairing(config.repairs, source, self._schemas)
        self._batching = Batching(log, config.name, config.limits, failpoints, self._state.boundary)
        self._watchdog = Watchdog(config.limits.stuck_seconds)
        self._pace = Pace()
        self._reported = 0.0

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Claim the changelog, then capture; returns when asked to stop.

        Raises:
            StaleState: `cdc.fenced`, where another capture of the source took over.
            ExternalFailure, RuleViolation: what the source did, by code; nothing is lost.
        """
        self._cut()
        state = self._state
        for event in self._source.events(state.boundary, self._schemas.of_map):
            self._take(event)
            is_full = self._batching.is_full
            is_cut = is_full or self._batching.is_due
            if is_cut:
                self._settle()
                self._cut()
            if self._is_loading and (is_full or state.is_quiet):
                self._load()
            if self._repairing.is_due and (is_full or state.is_quiet):
                self._repair()
            if (is_cut or not isinstance(event, Rows)) and should_stop():
                self._cut()
                self._tell(is_last=True)
                return
            self._tell()

    def _resumed(self, log: Changelog) -> _State:
        """Find where to begin, and which tables are to be loaded; what is refused is reported."""
        end = log.end()
        last = Position.parse(end[1].end) if end else None
        if last is not None and last.epoch > self._config.epoch:
            raise RuleViolation(
                "cdc.epoch",
                f"The changelog is in epoch {last.epoch}, the pipeline in {self._config.epoch}: "
                "its tables were loaded again after the backup from which the portal's database "
                "was restored. Press Load every table again, until the capture goes on.",
            )
        is_new = last is None or last.epoch < self._config.epoch
        position = self._source.position() if is_new or last is None else last
        self._source.check_there(position)
        known = {} if is_new or end is None else full_loads.read(end[1].loads)
        there = self._source.tables()
        self._schemas.refused = {(one.db, one.table): one.reason for one in there if one.reason}
        good = [one.schema for one in there if one.schema is not None]
        book = self._schemas.book
        new = [one for one in good if is_new or book.latest((one.db, one.table)) is None]
        # Of a source that is known, a table may be new because it was made meanwhile: the log says.
        planned = [(one.db, one.table) for one in new] if is_new else []
        self._new_schemas: list[TableSchema] = new if is_new else []
        self._later = [] if is_new else new
        self._later_at = position if is_new else self._source.position()
        self._schemas.on_unseen = self._unseen
        return _State(position, position, full_loads.planned(known, planned, self._config))

    def _unseen(self, name: Name) -> None:
        """Plan the load of a table whose rows were never read; in the log before its schema."""
        self._state.loads[name] = Load(*name)
        self._cut()

    def _find_unseen(self) -> None:
        """Plan loads of tables that were there before, once the log has named those made since."""
        if not self._later or self._state.boundary < self._later_at:
            return
        for schema in self._later:
            name = schema.db, schema.table
            if self._schemas.book.latest(name) is None and not self._schemas.has_pending(name):
                self._unseen(name)
                self._schemas.begin(schema, self._state.boundary)
        self._later = []

    @property
    def _is_loading(self) -> bool:
        loads = self._state.loads.items()
        return any(not load.is_done and name not in self._schemas.refused for name, load in loads)

    def _take(self, event: Event) -> None:
        state = self._state
        if isinstance(event, Rows):
            state.is_quiet = False
            state.event_at, state.reached = event.at, event.end
            self._rows(event)
        elif isinstance(event, Idle):
            state.is_quiet = True
            if self._later or self._schemas.before_pending() is not None:
                self._settle()
            if self._watchdog.is_due():
                self._watch()
            return
        elif isinstance(event, Statement):
            self._statement(event)
        else:
            state.event_at = event.at
        if isinstance(event, Committed | Statement):
            state.is_quiet = False
            state.reached = state.boundary = event.end
        self._watchdog.moved()

    def _rows(self, event: Rows) -> None:
        self._batching.add(changes_of(event), event.size * _JSON_OVER_LOG)

    def _statement(self, event: Statement) -> None:
        ddl = read_ddl(event.text, event.db)
        if ddl is None:
            return
        if ddl.action is Action.WRITE:
            for name in ddl.tables:
                if self._source.wants(*name):
                    raise _unlogged(event, name)
            return
        before = self._state.boundary
        gone = [*ddl.tables] if ddl.action is Action.DROP else [old for old, _ in ddl.renames]
        for name in list(self._state.loads):
            if name in gone or (ddl.action is Action.DROP_DATABASE and name[0] == ddl.tables[0][0]):
                del self._state.loads[name]
        for name in self._schemas.statement(ddl, event, before):
            self._unseen(name)
        self._source.forget()

    def _settle(self) -> None:
        """Take schemas of DDLs that are known by now; never in the middle of a transaction."""
        state = self._state
        if state.reached == state.boundary:
            if self._schemas.settle(state.boundary):
                self._source.forget()
            self._find_unseen()

    def _cut(self) -> None:
        """Append a batch; planned loads are in a header before the first schema of their table."""
        end = self._schemas.before_pending() or self._state.boundary
        end = max(end, self._batching.begin)
        self._pace.add(self._batching.cut(end, full_loads.written(self._state.loads.values())))
        for schema in self._new_schemas:
            self._schemas.begin(schema, self._state.boundary)
        self._new_schemas = []
        self._source.hurry(is_loading=self._is_loading or self._repairing.is_due)

    def _load(self) -> None:
        """Read one chunk of the first table that can be read, and append it at once."""
        for name, load in self._state.loads.items():
            if load.is_done or name in self._schemas.refused or self._schemas.has_pending(name):
                continue
            schema = self._schemas.book.latest(name)
            if schema is None:
                continue
            with self._failpoints.step("chunk"):
                chunk = self._source.chunk(schema, load.after)
            if chunk is None:
                continue
            changes = reads_of(chunk, schema)
            self._batching.add(changes, 0)
            self._state.loads[name] = msgspec.structs.replace(
                load, rows=load.rows + len(changes), after=chunk.after, is_done=chunk.is_last
            )
            self._cut()
            return
        time.sleep(0.05)  # what is left waits for its DDL

    def _repair(self) -> None:
        """Read some rows that differ in the lake, and append them at once."""
        with self._failpoints.step("repair"):
            changes = self._repairing.read()
        if changes is None:
            time.sleep(0.05)  # the table waits for its DDL
            return
        self._batching.add(changes, 0)
        self._cut()
        self._repairing.written(self._batching.number)

    def _watch(self) -> None:
        there = self._source.position()
        if self._watchdog.is_stuck(self._state.reached, there):
            raise ExternalFailure(
                "cdc.stuck",
                f"The server's log went on to {there}, but nothing came after {self._state.reached}"
                f" for {self._config.limits.stuck_seconds:g} s. The capture begins again from its "
                "last batch.",
                service="mysql",
                retryable=True,
            )

    def _tell(self, *, is_last: bool = False) -> None:
        now = time.monotonic()
        if now - self._reported < _REPORT_SECONDS and not is_last:
            return
        self._reported = now
        state = self._state
        behind = 0.0 if state.is_quiet else max(time.time() - state.event_at / 1000, 0.0)
        self._report(
            Progress(
                self._batching.number,
                str(state.reached),
                behind if state.event_at else 0.0,
                self._batching.total,
                self._pace.per_second(),
                tuple(state.loads.values()),
                tuple((f"{db}.{table}", why) for (db, table), why in self._schemas.refused.items()),
                self._repairing.told,
            )
        )


def _unlogged(event: Statement, name: Name) -> RuleViolation:
    # Its first words alone: behind them are values.
    words = _WORDS.match(event.text)
    return RuleViolation(
        "cdc.statement",
        f"The log at {event.start} has a statement that writes to {name[0]}.{name[1]} instead of "
        f"its rows: {words[0] if words else ''!r}. A session uses another binlog_format than ROW. "
        "Fix that; then leave the table out, or raise the epoch, and every table is loaded again.",
        table=f"{name[0]}.{name[1]}",
    )
