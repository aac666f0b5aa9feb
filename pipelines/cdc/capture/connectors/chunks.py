"""Reads a table by ranges of its primary key, without locks, each at a known position of the log.

On MariaDB the position is exact: the server tells where its log was when the snapshot was taken.
MySQL does not, and writes its log before a transaction can be seen; so there the position is one
that is `settle_seconds` old, which every transaction before it has left behind.
"""

import base64
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pymysql
from pymysql.converters import conversions
from pymysql.cursors import SSCursor

from pipelines.cdc.capture.connectors.mysql import IDLE_SECONDS, alive, connect, quoted, translated
from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.texts import selected, text_of
from pipelines.cdc.schema.domain.types import ColumnType, Kind, parse_type

_ENCODERS = {key: value for key, value in conversions.items() if not isinstance(key, int)}
"""Values go out as always, and come in as the server wrote them."""
_MOVED = frozenset({1054, 1146, 1412, 1615})
"""The table was dropped, or is another than the capture knows: its DDL is on the way."""
_BY_NUMBER = frozenset({Kind.ENUM, Kind.SET, Kind.BIT})
_NUMBERS = frozenset({Kind.INTEGER, Kind.YEAR, *_BY_NUMBER})
_AS_IT_IS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.ENUM, Kind.DATE, Kind.YEAR})
_NULL = 251
"""Stands in a row for NULL; what is greater says how many bytes the size of a value has."""
_SIZES = {252: 2, 253: 3, 254: 8}
_SNAPSHOT = "START TRANSACTION WITH CONSISTENT SNAPSHOT"


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What one statement gave."""

    rows: list[Row]
    after: tuple[str, ...]
    is_cut: bool
    is_last: bool


class Chunks:
    """Reads chunks over a connection of its own."""

    def __init__(self, config: SourceConfig, source: Source) -> None:
        self._config = config
        self._source = source
        self._link: Any = connect(config, conv=_ENCODERS)
        self._used = time.monotonic()
        self._rows: dict[tuple[str, str], int] = {}
        self._settled: list[tuple[float, Position]] = []

    def close(self) -> None:
        """End the connection at once."""
        self._link.close()

    def read(self, schema: TableSchema, after: tuple[str, ...]) -> Chunk | None:
        """Read the rows that follow a key; None where the table is not as `schema` says just now.

        How many depends on the limits and on how wide the rows before were.
        """

        def fetch() -> _Fetched:
            limit = self._n_rows(schema)
            rows, keys, is_cut = self._fetch(schema, after, limit)
            return _Fetched(rows, keys or after, is_cut, is_last=not is_cut and len(rows) < limit)

        return self._guarded(schema, fetch)

    def read_keys(self, schema: TableSchema, keys: Sequence[Row]) -> Chunk | None:
        """Read the rows of some keys, given by their texts; keys without a row are left out.

        None where the table is not as `schema` says just now.
        """
        query, wanted = _Query(schema), {tuple(key.values()) for key in keys}

        def fetch() -> _Fetched:
            found = map(query.row, self._ask(*query.of_keys(keys)))
            # By the collation of a column more keys are equal than by their texts.
            rows = [row for row in found if tuple(row[name] for name in schema.key) in wanted]
            return _Fetched(rows, (), is_cut=False, is_last=True)

        return self._guarded(schema, fetch)

    def _guarded(self, schema: TableSchema, fetch: Callable[[], "_Fetched"]) -> Chunk | None:
        if not self._source.is_mariadb and self._settled_position() is None:
            return None
        at = time.time_ns() // 1_000_000
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._link = alive(self._link, self._config, conv=_ENCODERS)
        self._used = time.monotonic()
        with translated(self._config):
            try:
                return self._in_snapshot(schema, fetch, at)
            except pymysql.MySQLError as error:
                if error.args and error.args[0] in _MOVED:
                    self._ask("ROLLBACK")
                    return None
                raise

    def _in_snapshot(
        self, schema: TableSchema, fetch: Callable[[], "_Fetched"], at: int
    ) -> Chunk | None:
        settled = self._settled_position()
        self._ask(_SNAPSHOT)
        position = self._snapshot_position() or settled
        if position is None:
            self._ask("ROLLBACK")
            return None
        found = fetch()
        # Reading holds the table's definition until the end of the transaction, so this is it.
        there = self._source.table(schema.db, schema.table).schema
        if found.is_cut:
            self._link.close()
            self._link = connect(self._config, conv=_ENCODERS)
        else:
            self._ask("COMMIT")
        if there is None or not same_columns(there, schema):
            return None
        return Chunk(position, at, found.rows, found.after, is_last=found.is_last)

    def _fetch(
        self, schema: TableSchema, after: tuple[str, ...], limit: int
    ) -> tuple[list[Row], tuple[str, ...], bool]:
        """Fetch rows until there are enough of them or of bytes; says whether it was bytes."""
        query = _Query(schema)
        rows: list[Row] = []
        most, n_bytes, last = self._config.limits.bytes * 2, 0, None
        with self._link.cursor(SSCursor) as cursor:
            cursor.execute(*query.statement(after, limit))
            cursor._result._read_row_from_packet = row_reader(cursor._result)
            while (raw := cursor.fetchone()) is not None:
                last = raw
                rows.append(query.row(raw))
                n_bytes += sum(map(len, filter(None, raw)))
                if n_bytes > most and len(rows) < limit:
                    # What is left would have to be read to its end, so the connection goes.
                    self._link._force_close()
                    break
            is_cut = n_bytes > most and len(rows) < limit
        if rows:
            fitting = self._config.limits.bytes * len(rows) // max(n_bytes, 1)
            self._rows[schema.db, schema.table] = self._bounded(fitting)
        return rows, query.key(last) if last is not None else (), is_cut

    def _n_rows(self, schema: TableSchema) -> int:
        known = self._rows.get((schema.db, schema.table))
        if known:
            return known
        found = self._ask(
            "SELECT avg_row_length FROM information_schema.tables"
            " WHERE table_schema = %s AND table_name = %s",
            (schema.db, schema.table),
        )
        width = max(int((found and found[0][0]) or 0), 1)
        return self._bounded(self._config.limits.bytes // width)

    def _bounded(self, n_rows: int) -> int:
        return max(1, min(self._config.limits.chunk_rows, n_rows))

    def _snapshot_position(self) -> Position | None:
        if not self._source.is_mariadb:
            return None
        rows = self._ask("SHOW STATUS LIKE 'binlog_snapshot_%'")
        found = {row[0].lower(): row[1] for row in rows}
        file = found.get("binlog_snapshot_file")
        if not file:
            return None
        return Position(self._config.epoch, file, int(found["binlog_snapshot_position"]))

    def _settled_position(self) -> Position | None:
        """Return a position that is old enough; None in the first moments."""
        now = time.monotonic()
        if not self._settled or now - self._settled[-1][0] > self._config.limits.settle_seconds / 4:
            self._settled.append((now, self._source.position()))
        old = [one for one in self._settled if now - one[0] >= self._config.limits.settle_seconds]
        self._settled = old[-1:] + [one for one in self._settled if one not in old]
        return old[-1][1] if old else None

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._link.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())


def same_columns(one: TableSchema, other: TableSchema) -> bool:
    """Whether rows of one are rows of the other: names, types, keys; not defaults and comments."""
    first = [(column.name, column.type, column.charset) for column in one.columns]
    second = [(column.name, column.type, column.charset) for column in other.columns]
    return first == second and one.key == other.key


def row_reader(result: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads a row of a result. PyMySQL's own takes most of the time of a full load."""
    encodings = [encoding for encoding, _ in result.converters]

    def read(packet: Any) -> tuple[Any, ...]:
        data, at = packet.get_all_data(), 0
        row: list[Any] = []
        for encoding in encodings:
            size, at = data[at], at + 1
            if size == _NULL:
                row.append(None)
                continue
            if size > _NULL:
                start, at = at, at + _SIZES[size]
                size = int.from_bytes(data[start:at], "little")
            value, at = data[at : at + size], at + size
            row.append(value if encoding is None else value.decode(encoding))
        return tuple(row)

    return read


class _Query:
    """The statement that reads a table, and what its rows are as texts and keys."""

    def __init__(self, schema: TableSchema) -> None:
        kinds = {column.name: parse_type(column.type) for column in schema.columns}
        # A percent sign in a name is none of a place for a value.
        names = {name: quoted(name).replace("%", "%%") for name in schema.names}
        self._from = f"{quoted(schema.db)}.{quoted(schema.table)}".replace("%", "%%")
        self._names = schema.names
        self._texts = [_text(kinds[column.name], column) for column in schema.columns]
        self._key = [(names[name], kinds[name]) for name in schema.key]
        self._shown = [selected(names[name], kinds[name]) for name in schema.names]

    def statement(self, after: tuple[str, ...], limit: int) -> tuple[str, list[object]]:
        keys = [_compared(name, kind) for name, kind in self._key]
        values = [_value(text, kind) for text, (_, kind) in zip(after, self._key, strict=False)]
        where, bound = _beyond(keys, values) if after else ("", [])
        order = ", ".join(name for name, _ in self._key)
        parts = ["SELECT", ", ".join([*self._shown, *keys]), "FROM", self._from, where]
        return " ".join([*parts, "ORDER BY", order, "LIMIT", str(limit)]), bound

    def of_keys(self, keys: Sequence[Row]) -> tuple[str, list[object]]:
        """Return the statement that reads the rows of keys, which are given by their texts."""
        same = " AND ".join(f"{name} = %s" for name, _ in self._key)
        where = " OR ".join([f"({same})"] * len(keys))
        bound = [
            _same_as(text, kind)
            for key in keys
            for text, (_, kind) in zip(key.values(), self._key, strict=True)
        ]
        return " ".join(
            ["SELECT", ", ".join(self._shown), "FROM", self._from, "WHERE", where]
        ), bound

    def row(self, raw: tuple[Any, ...]) -> Row:
        return {
            name: value if value is None or text is None else text(value)
            for name, text, value in zip(self._names, self._texts, raw, strict=False)
        }

    def key(self, raw: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple(
            base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
            for value in raw[len(self._names) :]
        )


def _text(kind: ColumnType, column: Column) -> Callable[[Any], str | None] | None:
    """Return what makes the text of a value that the server wrote; None where it is one already."""
    if kind.kind in _AS_IT_IS and "zerofill" not in column.type:
        return None
    if kind.kind in (Kind.FLOAT, Kind.DOUBLE):
        return lambda value: text_of(float(value), kind)
    return lambda value: text_of(value, kind)


def _compared(name: str, kind: ColumnType) -> str:
    """Return a key column as it is compared: an ENUM is ordered by its number, not its text."""
    if kind.kind in _BY_NUMBER:
        return f"{name} + 0"
    return f"{name} + 0e0" if kind.kind is Kind.FLOAT else name


def _value(text: str, kind: ColumnType) -> object:
    """Return a key's value so that the server compares it as the column's type."""
    if kind.kind in _NUMBERS:
        return int(text)
    if kind.kind is Kind.DECIMAL:
        return Decimal(text)
    if kind.kind in (Kind.FLOAT, Kind.DOUBLE):
        return float(text)
    return base64.b64decode(text) if kind.kind is Kind.BINARY else text


def _same_as(text: str | None, kind: ColumnType) -> object:
    """Return the value that a key column with a text is equal to, so that an index is used."""
    if text is None or kind.kind in (Kind.ENUM, Kind.SET):
        return text
    if kind.kind is Kind.FLOAT:
        return float(struct.unpack("<f", struct.pack("<f", float(text)))[0])
    return _value(text, kind)


def _beyond(keys: list[str], values: list[object]) -> tuple[str, list[object]]:
    """Return the predicate of the rows after a key; its first part lets the index be used."""
    parts, bound = [], [values[0]]
    for n, key in enumerate(keys):
        same = [f"{one} = %s" for one in keys[:n]]
        parts.append(" AND ".join([*same, f"{key} > %s"]))
        bound += [*values[:n], values[n]]
    return f" WHERE {keys[0]} >= %s AND ({' OR '.join(parts)})", bound
