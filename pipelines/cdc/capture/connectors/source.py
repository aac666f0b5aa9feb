"""Reads a source: what the server says of itself, its tables' schemas, and its position."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any

from pipelines.cdc.capture.connectors.mysql import (
    IDLE_SECONDS,
    Link,
    alive,
    connect,
    quoted,
    translated,
)
from pipelines.cdc.capture.domain.charsets import decoder
from pipelines.cdc.capture.domain.config import SourceConfig, TableFilter
from pipelines.cdc.capture.domain.findings import (
    NO_KEY,
    Finding,
    Level,
    ServerFacts,
    TableFacts,
    judge,
)
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.types import parse_type
from portal.lake.errors import ExternalFailure, RuleViolation

_VARIABLES = (
    *("server_id", "log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata"),
    *("log_bin_compress", "binlog_transaction_compression", "binlog_row_value_options"),
    *("binlog_expire_logs_seconds", "expire_logs_days", "binlog_checksum"),
)
_TABLES = """
SELECT table_schema, table_name, table_type, engine FROM information_schema.tables
WHERE table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
ORDER BY 1, 2"""
_COLUMNS = """
SELECT column_name, column_type, is_nullable, extra, character_set_name, column_default,
       column_comment, column_key
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s
ORDER BY ordinal_position"""
_KEY = """
SELECT column_name FROM information_schema.key_column_usage
WHERE table_schema = %s AND table_name = %s AND constraint_name = 'PRIMARY'
ORDER BY ordinal_position"""


class Source:
    """A connection for questions; opened again after it is lost."""

    def __init__(self, config: SourceConfig) -> None:
        self.config = config
        self._filter = TableFilter(config)
        self._link: Link = connect(config)
        self._used = time.monotonic()
        self.version = str(self._ask("SELECT version()")[0][0])

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return "mariadb" in self.version.lower()

    def close(self) -> None:
        """End the connection at once."""
        self._link.close()

    def position(self) -> Position:
        """Return where the server's log ends now.

        Raises:
            ExternalFailure: `cdc.source`, where it writes none.
        """
        try:
            rows = self._ask("SHOW MASTER STATUS")
        except ExternalFailure as error:
            if error.code != "cdc.source":
                raise
            rows = self._ask("SHOW BINARY LOG STATUS")  # since MySQL 8.4
        if not rows:
            raise ExternalFailure(
                "cdc.source", "The server writes no binary log.", service="mysql", retryable=False
            )
        return Position(self.config.epoch, str(rows[0][0]), int(rows[0][1]))

    def check_there(self, position: Position) -> None:
        """Make sure that the server's log still holds a position.

        Raises:
            ExternalFailure: `cdc.purged`, where it was removed or began again.
        """
        sizes = {str(row[0]): int(row[1]) for row in self._ask("SHOW BINARY LOGS")}
        if position.offset > sizes.get(position.file, -1):
            raise ExternalFailure(
                "cdc.purged",
                f"The source's binary log has no {position} any more: it was removed before "
                "it was read, or began again. Raise the epoch of the source, so that every table "
                "is loaded again, and keep logs longer.",
                service="mysql",
                retryable=False,
            )

    def charsets(self) -> dict[int, str]:
        """Return the names of character sets by the numbers of collations in table maps."""
        if self.is_mariadb:
            rows = self._ask(
                "SELECT id, character_set_name"
                " FROM information_schema.collation_character_set_applicability"
            )
        else:
            rows = self._ask("SELECT id, character_set_name FROM information_schema.collations")
        return {int(row[0]): str(row[1]) for row in rows if row[0] is not None and row[1]}

    def tables(self) -> list[TableFacts]:
        """Return every table that the patterns mean, with its schema or why it has none."""
        found = []
        for db, table, kind, _ in self._ask(_TABLES):
            if kind not in ("VIEW", "SEQUENCE") and self._filter.wants(db, table):
                found.append(self._facts(db, table, str(kind)))
        return found

    def table(self, db: str, table: str) -> TableFacts:
        """Return one table as the server has it now."""
        return self._facts(db, table, "BASE TABLE")

    def readable(self, table: TableFacts) -> TableFacts:
        """Try to read a table; returns it with the grant as its reason where that is refused."""
        if table.reason:
            return table
        name = f"{quoted(table.db)}.{quoted(table.table)}"
        try:
            self._ask(f"SELECT 1 FROM {name} LIMIT 0")  # noqa: S608  (names are quoted)
        except ExternalFailure as error:
            if error.code != "cdc.access":
                raise
            user = self.config.user
            reason = f"it may not be read; GRANT SELECT ON {name} TO '{user}'@'...';"
            return TableFacts(table.db, table.table, table.schema, reason)
        return table

    def facts(self) -> ServerFacts:
        """Return what the server says of itself."""
        names = ", ".join(f"'{one}'" for one in _VARIABLES)
        rows = self._ask(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
        variables = {str(row[0]).lower(): str(row[1]) for row in rows}
        grants = tuple(str(row[0]) for row in self._ask("SHOW GRANTS"))
        return ServerFacts(self.version, variables, grants, self._replicas())

    def _replicas(self) -> dict[int, str] | None:
        for statement in ("SHOW SLAVE HOSTS", "SHOW REPLICAS"):
            try:
                rows = self._ask(statement)
            except ExternalFailure as error:
                if error.code in ("cdc.source", "cdc.access"):
                    continue
                raise
            return {int(row[0]): str(row[1]) for row in rows}
        return None

    def _facts(self, db: str, table: str, kind: str) -> TableFacts:
        if kind == "SYSTEM VERSIONED":
            reason = "it is system-versioned, so its history is rows as well"
            return TableFacts(db, table, None, reason)
        rows = self._ask(_COLUMNS, (db, table))
        if not rows:
            return TableFacts(db, table, None, "it is not there any more")
        key = tuple(str(row[0]) for row in self._ask(_KEY, (db, table)))
        columns = tuple(map(_column, rows))
        if not key:
            return TableFacts(db, table, None, NO_KEY)
        try:
            for column in columns:
                parse_type(column.type)
                decoder(column.charset or "utf8mb4")
        except RuleViolation as error:
            return TableFacts(db, table, None, f"column {column.name}: {error.message}")
        return TableFacts(db, table, TableSchema(db, table, 0, 0, columns, key))

    def _ask(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        # DDL may come a day after the question before it.
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._link = alive(self._link, self.config)
        self._used = time.monotonic()
        with translated(self.config), self._link.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())


def _column(row: tuple[Any, ...]) -> Column:
    name, kind, nullable, extra, charset, default, comment, _ = row
    words = str(extra or "").upper()
    return Column(
        str(name),
        _lower(str(kind)),
        is_nullable=nullable == "YES",
        is_generated="GENERATED" in words and "DEFAULT_GENERATED" not in words,
        is_invisible="INVISIBLE" in words,
        charset=str(charset or ""),
        default=_default(default),
        comment=str(comment or ""),
    )


def _default(default: Any) -> str | None:
    """MariaDB writes a default as it stands in a statement, `NULL` and quoted texts; MySQL not."""
    if default is None or default == "NULL":
        return None
    text = str(default)
    is_quoted = len(text) > 1 and text[0] == text[-1] == "'"
    return text[1:-1].replace("''", "'") if is_quoted else text


def _lower(kind: str) -> str:
    """Return a type in lower case, but members of ENUM and SET, and hints, as they are."""
    return kind if "'" in kind or "/*" in kind else kind.lower()


def probe(
    config: SourceConfig, also: Callable[[Sequence[TableFacts]], Iterable[Finding]] | None = None
) -> list[Finding]:
    """Try everything that a capture needs; findings say what is missing and how to fix it.

    `also` says what else there is to find in the tables. It only reads. Raises nothing for what a
    person can fix.
    """
    try:
        with closing(Source(config)) as source:
            facts = source.facts()
            tables = tuple(source.readable(one) for one in source.tables())
            findings = judge(facts, tables, user=config.user, server_id=config.server_id)
            if facts.value("log_bin") in ("ON", "1") and findings[1].level is Level.OK:
                findings.append(_where(source))
            findings.extend(also(tables) if also else ())
            return [Finding("reachable", Level.OK, "The server answers."), *findings]
    except ExternalFailure as error:
        return [Finding("reachable", Level.ERROR, error.message, "Fix this first.")]


def _where(source: Source) -> Finding:
    return Finding("position", Level.OK, f"The binary log ends at {source.position()}.")
