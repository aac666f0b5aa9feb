"""What a capture is told: the source, its tables, and how large its batches are."""

import re
from dataclasses import dataclass, field
from fnmatch import translate

from pipelines.cdc.capture.domain.repairs import Repair
from portal.lake.errors import RuleViolation

SHADOWS = ("*._*_gho", "*._*_ghc", "*._*_del", "*._*_new", "*._*_old")
"""Tables that gh-ost and pt-online-schema-change make beside the one that they change."""
SYSTEM = frozenset({"mysql", "information_schema", "performance_schema", "sys"})
MOST_SERVER_IDS = 1 << 32


@dataclass(frozen=True, slots=True)
class Limits:
    """How much goes into a batch, and how long the capture waits for what."""

    rows: int = 7_000
    bytes: int = 8 << 20
    seconds: float = 2.0
    chunk_rows: int = 7_000
    heartbeat_seconds: float = 10.0
    """A batch without changes is written so often while nothing happens."""
    stuck_seconds: float = 60.0
    """No event for so long while the server's position moves is an error."""
    settle_seconds: float = 2.0
    """MySQL alone: a position is so old before a chunk is read at it."""
    connect_seconds: int = 10
    read_seconds: int = 60


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """A MySQL or MariaDB server and the tables to capture.

    The epoch goes up by one when the server's log begins again: after RESET MASTER, after a
    failover, or to have every table loaded again from the server's position at that time.
    """

    name: str
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    server_id: int
    tables: tuple[str, ...]
    """Patterns of `database.table`, in which `*` and `?` stand for letters."""
    excluded: tuple[str, ...] = ()
    ssl_ca: str = ""
    epoch: int = 0
    reloads: tuple[tuple[str, int], ...] = ()
    """Of each table that was asked to be loaded again: how often so far."""
    repairs: tuple[Repair, ...] = ()
    """Keys to write to the changelog again, the oldest order first."""
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for pattern in (*self.tables, *self.excluded):
            if "." not in pattern:
                raise RuleViolation(
                    "cdc.pattern", f"{pattern!r} names no table; write database.table, as shop.*."
                )
        if not self.tables:
            raise RuleViolation("cdc.pattern", "Name at least one table, as shop.*.")
        if not 0 < self.server_id < MOST_SERVER_IDS:
            raise RuleViolation("cdc.server_id", f"{self.server_id} is no server id.")


class TableFilter:
    """Which tables a source's patterns mean; names of systems and shadow tables never."""

    def __init__(self, config: SourceConfig) -> None:
        self._wanted = [_compiled(one) for one in config.tables]
        self._excluded = [_compiled(one) for one in (*config.excluded, *SHADOWS)]

    def wants(self, db: str, table: str) -> bool:
        """Whether a table is to be captured."""
        if db in SYSTEM:
            return False
        return _matches(self._wanted, db, table) and not _matches(self._excluded, db, table)


Pattern = tuple[re.Pattern[str], re.Pattern[str]]


def _compiled(pattern: str) -> Pattern:
    db, _, table = pattern.partition(".")
    return re.compile(translate(db)), re.compile(translate(table))


def _matches(patterns: list[Pattern], db: str, table: str) -> bool:
    return any(one.match(db) and other.match(table) for one, other in patterns)
