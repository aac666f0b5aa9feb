"""What a binary log holds for a capture, in its order; positions say where each begins and ends."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.cdc.capture.domain.table_maps import TableMap
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import TableSchema


@dataclass(frozen=True, slots=True)
class Rows:
    """A row event of a wanted table. Rows are read as they are asked for, once."""

    start: Position
    end: Position
    size: int
    at: int
    """Milliseconds since 1970, by the source's clock."""
    schema: TableSchema
    rows: Iterator[tuple[Row | None, Row | None]]
    """Before and after of each."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that the log holds as text: DDL, or a write that was not logged by row."""

    start: Position
    end: Position
    at: int
    db: str
    text: str


@dataclass(frozen=True, slots=True)
class Committed:
    """A transaction ends here, or the log goes on in another file: reading can resume here."""

    end: Position
    at: int


@dataclass(frozen=True, slots=True)
class Idle:
    """There was nothing for a moment; the server's connection is alive."""


Event = Rows | Statement | Committed | Idle


@dataclass(frozen=True, slots=True)
class MapSeen:
    """A wanted table's map, for which the capture names the schema."""

    start: Position
    table: TableMap
