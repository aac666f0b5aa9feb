"""A MySQL or MariaDB server as the loop of a capture wants it: questions, events, chunks."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Self

from pipelines.cdc.capture.connectors.binlog import Binlog, SchemaOf
from pipelines.cdc.capture.connectors.chunks import Chunks
from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import SourceConfig, TableFilter
from pipelines.cdc.capture.domain.events import Event
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.shapes import Charsets
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import TableSchema


class MySqlSource:
    """Three connections: for questions, for the log, and for chunks while tables are loaded."""

    def __init__(self, config: SourceConfig) -> None:
        self._config = config
        self._filter = TableFilter(config)
        self._source = Source(config)
        self._chunks: Chunks | None = None
        self._binlog: Binlog | None = None
        self.position = self._source.position
        self.check_there = self._source.check_there
        self.tables = self._source.tables
        self.table = self._source.table
        self.wants = self._filter.wants

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for one in (self._binlog, self._chunks, self._source):
            if one is not None:
                one.close()

    @cached_property
    def charsets(self) -> Charsets:
        """Names of character sets by the numbers in table maps."""
        return self._source.charsets()

    def events(self, position: Position, schema_of: SchemaOf) -> Iterator[Event]:
        """Yield what the log holds after a position, for ever, and `Idle` in between."""
        self._binlog = Binlog(
            self._config,
            position,
            charsets=self.charsets,
            is_mariadb=self._source.is_mariadb,
            wants=self.wants,
        )
        return self._binlog.events(schema_of)

    def forget(self) -> None:
        """Ask for the schema of every table again that the log describes from here on."""
        if self._binlog is not None:
            self._binlog.forget()

    def hurry(self, *, is_loading: bool) -> None:
        """Say whether `Idle` is to come at once when there is nothing to read."""
        if self._binlog is not None:
            self._binlog.hurry(is_loading=is_loading)

    def chunk(self, schema: TableSchema, after: tuple[str, ...]) -> Chunk | None:
        """Read rows after a key; None where the table is not as its schema says just now."""
        return self._reading.read(schema, after)

    def rows_of(self, schema: TableSchema, keys: Sequence[Row]) -> Chunk | None:
        """Read rows by their keys; None where the table is not as its schema says just now."""
        return self._reading.read_keys(schema, keys)

    @property
    def _reading(self) -> Chunks:
        if self._chunks is None:
            self._chunks = Chunks(self._config, self._source)
        return self._chunks
