"""What the loop asks of a source; `capture.connectors` has it for MySQL and MariaDB."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from pipelines.cdc.capture.domain.events import Event, MapSeen
from pipelines.cdc.capture.domain.findings import TableFacts
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.shapes import Charsets
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import TableSchema

SchemaOf = Callable[[MapSeen], TableSchema | None]


class SourcePort(Protocol):
    """A server; every call has a time-out and raises only PortalError."""

    @property
    def charsets(self) -> Charsets:
        """Names of character sets by the numbers in table maps."""

    def position(self) -> Position:
        """Return where the server's log ends now."""

    def check_there(self, position: Position) -> None:
        """Raise `cdc.purged` where the log does not hold a position any more."""

    def tables(self) -> list[TableFacts]:
        """Return every table that the patterns mean."""

    def table(self, db: str, table: str) -> TableFacts:
        """Return one table as it is now."""

    def wants(self, db: str, table: str) -> bool:
        """Whether the patterns mean a table."""

    def events(self, position: Position, schema_of: SchemaOf) -> Iterator[Event]:
        """Yield what the log holds after a position, for ever, and `Idle` in between."""

    def forget(self) -> None:
        """Ask for the schema of every table again that the log describes from here on."""

    def hurry(self, *, is_loading: bool) -> None:
        """Say whether `Idle` is to come at once when there is nothing to read."""

    def chunk(self, schema: TableSchema, after: tuple[str, ...]) -> Chunk | None:
        """Read rows after a key; None where the table is not as its schema says just now."""

    def rows_of(self, schema: TableSchema, keys: Sequence[Row]) -> Chunk | None:
        """Read rows by their keys; None where the table is not as its schema says just now."""
