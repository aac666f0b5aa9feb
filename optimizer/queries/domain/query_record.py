"""One completed query as any engine tells of it: who asked, what it cost, which tables it read."""

from dataclasses import dataclass
from datetime import datetime

from optimizer.advice.domain.asked import Asked
from optimizer.advice.domain.filters import Filter
from optimizer.cubes.domain.readers import Engine


@dataclass(frozen=True, slots=True)
class TableScan:
    """One place at which a query read a table."""

    db: str
    table: str
    filters: tuple[Filter, ...]
    n_bytes: int = 0
    """Read from files, of the columns that were asked for."""
    share: float | None = None
    """Rows that were read, of all in the table; None where the event does not say."""
    n_files: int = 0
    """All data files of the table."""
    n_skipped: int | None = None
    """Those of them that planning left out; None where the share says it."""

    @property
    def place(self) -> tuple[str, str]:
        """Database and table."""
        return self.db, self.table


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """One completed query; what the engine does not tell is empty, 0 or None."""

    engine: Engine
    """Its value is the dialect of the text too."""
    query_id: str
    is_failed: bool
    scans: tuple[TableScan, ...] = ()
    unread: str = ""
    """Why its scans could not be read; empty where they could, or need not be."""
    has_own_reports: bool = False
    """Whether the engine reports its scans apart, so that they are not added to sums here."""
    text: str = ""
    """With its constants: it is never kept as it is, nor shown."""
    catalog: str = ""
    """The engine's name of the lake's catalog."""
    default_db: str = ""
    """Where names without a database belong."""
    user: str = ""
    application: str = ""
    ended_at: datetime | None = None
    seconds: float | None = None
    n_bytes: int = 0
    """Read from files by the whole query."""
    asked: tuple[Asked, ...] = ()
    """What it asks of each table, where the engine tells it; else it is read from the text."""
    names_all_tables: bool = False
    """Whether `scans` names every table that it reads, and it writes none; False where the engine
    does not say. What is shown of its text, and which constants are kept, depends on it."""
