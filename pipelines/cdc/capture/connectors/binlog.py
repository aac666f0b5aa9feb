"""The binary log as events of a capture: rows of wanted tables, statements, ends of transactions.

Tables that are not wanted are told by the first bytes of their map and cost nothing more.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pymysqlreplication.json_binary import parse_json

from pipelines.cdc.capture.connectors.dump import HEARTBEAT, HEARTBEAT_V2, ROTATE, Dump, RawEvent
from pipelines.cdc.capture.domain.cells import cell_of
from pipelines.cdc.capture.domain.charsets import decoder
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.domain.events import Committed, Event, Idle, MapSeen, Rows, Statement
from pipelines.cdc.capture.domain.row_images import ROW_EVENTS, RowReader
from pipelines.cdc.capture.domain.shapes import Charsets
from pipelines.cdc.capture.domain.table_maps import MapColumn, head_of, parse_table_map
from pipelines.cdc.capture.domain.transactions import Transactions, query_of
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.types import parse_type
from portal.lake.errors import RuleViolation

SchemaOf = Callable[[MapSeen], TableSchema | None]
"""Names the schema of a wanted table's map; None where its rows are to be left out."""
Wants = Callable[[str, str], bool]

_QUERY, _FORMAT, _TABLE_MAP = 2, 15, 19
_PARTIAL_UPDATE = 39
_COMPRESSED = frozenset({40, *range(165, 172)})


class Binlog:
    """Reads a source's log from a position on."""

    def __init__(
        self,
        config: SourceConfig,
        position: Position,
        *,
        charsets: Charsets,
        is_mariadb: bool,
        wants: Wants,
    ) -> None:
        self._config = config
        self._position = position
        self._charsets = charsets
        self._is_mariadb = is_mariadb
        self._wants = wants
        self._readers: dict[int, tuple[RowReader, TableSchema] | None] = {}
        self._transactions = Transactions()
        self._dump: Dump | None = None

    def events(self, schema_of: SchemaOf) -> Iterator[Event]:
        """Yield what happens, for ever; `Idle` twice a second while nothing does.

        Raises:
            ExternalFailure: the connection or the log failed, as its code says.
            RuleViolation: `cdc.row_image`, `cdc.compressed`: the source writes what has no version.
        """
        self._dump = Dump(self._config, self._position)
        for raw in self._dump:
            event = Idle() if raw is None else self._event(raw, schema_of)
            if event is not None:
                yield event

    def close(self) -> None:
        """End the connection at once."""
        if self._dump is not None:
            self._dump.close()

    def forget(self) -> None:
        """Ask for the schema of every table again that the log describes from here on."""
        self._readers = {}

    def hurry(self, *, is_loading: bool) -> None:
        """Say whether `Idle` is to come at once when there is nothing to read."""
        if self._dump is not None:
            self._dump.is_hurried = is_loading

    def _event(self, raw: RawEvent, schema_of: SchemaOf) -> Event | None:
        kind = raw.kind
        if kind in ROW_EVENTS:
            return self._rows(raw)
        if kind == _TABLE_MAP:
            self._transactions.event(kind, raw.body)
            self._map(raw, schema_of)
        elif kind in (HEARTBEAT, HEARTBEAT_V2):
            return Idle()
        elif kind in (ROTATE, _FORMAT):
            # Numbers of tables begin again when the server does.
            self._readers = {}
        elif kind in _COMPRESSED or kind == _PARTIAL_UPDATE:
            raise _packed(raw)
        elif kind == _QUERY:
            db, text = query_of(raw.body)
            if not self._transactions.query(text):
                return Statement(raw.start, raw.end, raw.at * 1000, db, text)
        else:
            self._transactions.event(kind, raw.body)
        if self._transactions.has_ended and not raw.is_artificial:
            return Committed(raw.end, raw.at * 1000)
        return None

    def _rows(self, raw: RawEvent) -> Event | None:
        table_id = int.from_bytes(raw.body[:6], "little")
        found = self._readers.get(table_id)
        if found is None:
            return None
        self._transactions.rows()
        reader, schema = found
        rows = reader.rows(raw.kind, raw.body)
        return Rows(raw.start, raw.end, raw.size, raw.at * 1000, schema, rows)

    def _map(self, raw: RawEvent, schema_of: SchemaOf) -> None:
        table_id, db, table = head_of(raw.body)
        if table_id in self._readers:
            return
        found = None
        if self._wants(db, table):
            told = parse_table_map(raw.body, is_mariadb=self._is_mariadb)
            schema = schema_of(MapSeen(raw.start, told))
            if schema is not None:
                found = reader_of(told.columns, schema, self._charsets), schema
        self._readers[table_id] = found


def reader_of(
    told: tuple[MapColumn, ...], schema: TableSchema, charsets: Mapping[int, str]
) -> RowReader:
    """Return the reader of rows that a table map describes, under a schema that agrees."""
    cells = tuple(
        cell_of(
            one,
            parse_type(column.type),
            decoder(_charset(one, column, charsets)),
            _json_tree,
        )
        for one, column in zip(told, schema.columns, strict=True)
    )
    return RowReader(f"{schema.db}.{schema.table}", schema.names, cells)


def _charset(told: MapColumn, column: Column, charsets: Mapping[int, str]) -> str:
    found = charsets.get(told.collation) or column.charset
    return "utf8mb4" if found in ("", "binary") else found


def _json_tree(data: bytes) -> Any:
    return parse_json(data[0], data[1:])


def _packed(raw: RawEvent) -> RuleViolation:
    if raw.kind == _PARTIAL_UPDATE:
        return RuleViolation(
            "cdc.row_image",
            f"At {raw.start} rows have parts of JSON documents only; set "
            "binlog_row_value_options to nothing, and raise the epoch of the source.",
        )
    return RuleViolation(
        "cdc.compressed",
        f"The event at {raw.start} is compressed, so its rows have no byte of their own. Turn "
        "log_bin_compress and binlog_transaction_compression off, and raise the epoch of the "
        "source.",
    )
