"""Keeps the schemas of captured tables while the log goes by; each is written before its rows.

What is exact: with `binlog_row_metadata=FULL` names, types, character sets and keys of rows are
those of the log at that place. Defaults, comments and generation come from the server as it is
when it is asked. After a DDL without rows the server's answer is taken only once the log was read
up to where it ended after the answer: another DDL in between would have been met.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.cdc.capture.domain.ddl import Action, Ddl
from pipelines.cdc.capture.domain.events import MapSeen, Statement
from pipelines.cdc.capture.domain.findings import NO_KEY
from pipelines.cdc.capture.domain.schema_book import Name, SchemaBook
from pipelines.cdc.capture.domain.shapes import agrees, columns_of
from pipelines.cdc.capture.engine.ports import SourcePort
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.types import parse_type
from portal.lake.errors import RuleViolation
from portal.safety.failpoints import Failpoints


@dataclass(slots=True)
class _Pending:
    """A statement changed a table, and its schema after it is not known yet."""

    before: Position
    """Where the capture resumes to meet the statement again."""
    version: int
    ddl: str
    is_marked: bool
    """Whether it has a schema of its own even where no column changed."""
    is_told: bool = False
    """Whether a schema has the statement already."""
    has_rows: bool = False
    """Whether rows after the statement were given a schema, which they keep."""
    answer: TableSchema | None = None
    until: Position | None = None


class SchemaKeeping:
    """Names the schema of every row, and writes new ones."""

    def __init__(self, source: SourcePort, log: Changelog, failpoints: Failpoints) -> None:
        self._source = source
        self._log = log
        self._failpoints = failpoints
        self._pending: dict[Name, _Pending] = {}
        self.book = SchemaBook.of(log.schemas())
        self.refused: dict[Name, str] = {}
        self.on_unseen: Callable[[Name], None] = lambda _: None
        """Called before the first schema of a table that was not made while the log went by."""

    def has_pending(self, name: Name) -> bool:
        """Whether a table's schema is not known yet."""
        return name in self._pending

    def put(self, schema: TableSchema) -> TableSchema:
        """Write a schema, then know it."""
        with self._failpoints.step("schema"):
            self._log.schema_put(schema)
        self.book.add(schema)
        return schema

    def before_pending(self) -> Position | None:
        """Return where to resume so that no statement is missed whose schema is not known yet."""
        return min((one.before for one in self._pending.values()), default=None)

    def begin(self, there: TableSchema, position: Position) -> None:
        """Give a table its schema at a position, unless it has this one already."""
        name = there.db, there.table
        latest = self.book.latest(name)
        if latest is None or (latest.columns, latest.key) != (there.columns, there.key):
            self.put(self.book.new(name, position.version, there.columns, there.key, ""))

    def of_map(self, seen: MapSeen) -> TableSchema | None:
        """Return the schema of the rows that follow a table map; None of a refused table.

        Raises:
            RuleViolation: `cdc.metadata`, where the log has no names and the server is further.
        """
        name = seen.table.db, seen.table.table
        if name in self.refused and name not in self._pending:
            return None
        version = seen.start.version
        known = self.book.at(name, version)
        pending = self._pending.get(name)
        is_settled = pending is None or not pending.is_marked
        if pending is not None:
            pending.has_rows = True
        if known and is_settled and agrees(seen.table, known, self._source.charsets):
            return known
        return self._from_map(seen, name, known, pending)

    def _from_map(
        self, seen: MapSeen, name: Name, known: TableSchema | None, pending: _Pending | None
    ) -> TableSchema | None:
        there = (pending and pending.answer) or self._source.table(*name).schema
        told, charsets = seen.table, self._source.charsets
        if told.has_names and told.key is not None:
            hints = [column for one in (there, known) if one is not None for column in one.columns]
            columns = columns_of(told, hints, charsets)
            key = tuple(columns[place].name for place in told.key)
        elif there is not None and agrees(told, there, charsets):
            columns, key = there.columns, there.key
        else:
            raise _nameless(name)
        if (reason := _refusal(columns, key)) is not None:
            self.refused[name] = reason
            self._pending.pop(name, None)
            return None
        self.refused.pop(name, None)
        if known is None and pending is None:
            self.on_unseen(name)
        version = pending.version if pending else seen.start.version
        schema = self.book.new(name, version, columns, key, pending.ddl if pending else "")
        if pending:
            pending.is_marked, pending.is_told = False, True
        return self.put(schema)

    def statement(self, ddl: Ddl, event: Statement, before: Position) -> list[Name]:
        """Take a DDL in; returns the tables whose rows were never seen and must be loaded.

        TRUNCATE and DROP, and the old name of a rename, get a schema of the same columns with the
        statement: there are no records of the rows that went.
        """
        version, text = event.end.version, event.text
        match ddl.action:
            case Action.DROP_DATABASE:
                for name in self.book.tables():
                    if name[0] == ddl.tables[0][0]:
                        self._mark(name, version, text)
            case Action.DROP | Action.EMPTY:
                for name in ddl.tables:
                    self._mark(name, version, text)
            case Action.RENAME:
                return self._rename(ddl, before, version, text)
            case Action.CREATE | Action.ALTER:
                for name in filter(lambda one: self._source.wants(*one), ddl.tables):
                    self._await(name, _Pending(before, version, text, ddl.action is Action.CREATE))
        return []

    def _rename(self, ddl: Ddl, before: Position, version: int, text: str) -> list[Name]:
        """A swap by gh-ost changes the table of one name; a new name has rows never seen."""
        new_names = [new for _, new in ddl.renames]
        for old, _ in ddl.renames:
            if old not in new_names:
                self._mark(old, version, text)
        unseen = []
        for name in filter(lambda one: self._source.wants(*one), new_names):
            if self.book.latest(name) is None:
                unseen.append(name)
            self._await(name, _Pending(before, version, text, is_marked=True))
        return unseen

    def _mark(self, name: Name, version: int, text: str) -> None:
        self._pending.pop(name, None)
        schema = self.book.marked(name, version, text)
        if schema is not None:
            self.put(schema)

    def _await(self, name: Name, pending: _Pending) -> None:
        if self.book.begun_at(name, pending.version) is not None:
            return  # known from before a crash
        earlier = self._pending.get(name)
        if earlier is not None:
            pending.before = earlier.before
            if not earlier.is_told:
                pending.ddl = f"{earlier.ddl};\n{pending.ddl}"
            pending.is_marked |= earlier.is_marked
        self._pending[name] = pending

    def settle(self, reached: Position) -> bool:
        """Ask the server for schemas after DDLs, and take answers that the log caught up with.

        Called between transactions alone. Returns whether a table has another schema now.
        """
        n_schemas = len(self.book)
        for name, pending in list(self._pending.items()):
            if pending.until is None:
                self._ask(name, pending)
            if pending.until is not None and pending.until <= reached:
                del self._pending[name]
                self._take(name, pending, reached)
        return len(self.book) > n_schemas

    def _ask(self, name: Name, pending: _Pending) -> None:
        facts = self._source.table(*name)
        pending.answer, pending.until = facts.schema, self._source.position()
        if facts.schema is None:
            self.refused[name] = facts.reason
        else:
            self.refused.pop(name, None)

    def _take(self, name: Name, pending: _Pending, reached: Position) -> None:
        there, latest = pending.answer, self.book.latest(name)
        if there is None:
            return
        same = latest and (latest.columns, latest.key) == (there.columns, there.key)
        if pending.is_marked or not same:
            version = reached.version if pending.has_rows else pending.version
            self.put(self.book.new(name, version, there.columns, there.key, pending.ddl))


def _refusal(columns: tuple[Column, ...], key: tuple[str, ...]) -> str | None:
    if not key:
        return NO_KEY
    try:
        for column in columns:
            parse_type(column.type)
    except RuleViolation as error:
        return error.message
    return None


def _nameless(name: Name) -> RuleViolation:
    return RuleViolation(
        "cdc.metadata",
        f"Rows of {name[0]}.{name[1]} were logged before the table got the columns that it has "
        "now, and the log has no names. Set binlog_row_metadata to FULL, and raise the epoch of "
        "the source, or leave the table out.",
    )
