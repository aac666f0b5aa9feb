"""A database of a real source and the changelog that captures of it write, folded by version."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pipelines.cdc.capture.connectors.chunks import Chunks
from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import Limits, SourceConfig
from pipelines.cdc.capture.domain.loads import read as read_loads
from pipelines.cdc.capture.engine.progress import Progress
from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Change, Row, encode
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath
from stack.process import LOOPBACK
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER, SourceDb

QUICK = Limits(seconds=0.1, heartbeat_seconds=0.2, read_seconds=20)
_PATIENCE = 180.0


class Shop:
    """One database of the source; every test has its own, and its own server id."""

    def __init__(self, server: SourceDb, db: str, server_id: int, root: Path) -> None:
        self.server, self.db, self.server_id, self.root = server, db, server_id, root
        self.link = server.admin()
        self.run(f"create database `{db}` character set utf8mb4")
        self.link.select_db(db)
        self.reports: list[Progress] = []

    def connect_again(self) -> None:
        """Follow a server that was started again."""
        self.link = self.server.admin(self.db)

    def close(self) -> None:
        self.run(f"drop database if exists `{self.db}`")
        self.link.close()

    def run(self, *statements: str) -> None:
        with self.link.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.link.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def config(self, *tables: str, limits: Limits = QUICK, **more: Any) -> SourceConfig:
        return SourceConfig(
            **{
                "name": self.db,
                "host": LOOPBACK,
                "port": self.server.port,
                "user": CAPTURE_USER,
                "password": CAPTURE_PASSWORD,
                "server_id": self.server_id,
                "tables": tables or (f"{self.db}.*",),
                "limits": limits,
                **more,
            }
        )

    def log(self, name: str = "log") -> DirectoryLog:
        return DirectoryLog(LocalFileSystem(), LakePath.parse(str(self.root / name)))

    def position(self, epoch: int = 0) -> Position:
        file, offset, *_ = self.rows("show master status")[0]
        return Position(epoch, file, int(offset))

    def capture(
        self,
        config: SourceConfig | None = None,
        *,
        name: str = "log",
        until: Callable[[], bool] | None = None,
    ) -> DirectoryLog:
        """Capture in this process until the log has all that the source has, and no load runs."""
        log = self.log(name)
        self.capture_into(log, config or self.config(), until=until)
        return log

    def capture_into(
        self, log: Changelog, config: SourceConfig, *, until: Callable[[], bool] | None = None
    ) -> None:
        """Do the same with a log of any kind."""
        there = self.position(config.epoch)
        patient = time.monotonic() + _PATIENCE

        def should_stop() -> bool:
            if time.monotonic() > patient:
                raise AssertionError(f"not captured in time: {log.end()}")
            if until is not None and not until():
                return False
            return is_caught_up(log, there)

        capture_run(config, log, self.reports.append, should_stop)

    def table(self, name: str) -> list[Row]:
        """Return the rows of a table as a full load reads them."""
        config = self.config()
        source = Source(config)
        chunks = Chunks(config, source)
        try:
            schema = source.table(self.db, name).schema
            assert schema is not None, source.table(self.db, name).reason
            rows: list[Row] = []
            after: tuple[str, ...] = ()
            while True:
                chunk = chunks.read(schema, after)
                assert chunk is not None
                rows += chunk.rows
                if chunk.is_last:
                    return rows
                after = chunk.after
        finally:
            chunks.close()
            source.close()


def is_caught_up(log: Changelog, there: Position) -> bool:
    """Whether the log's last batch has everything up to a position, full loads included."""
    end = log.end()
    if end is None or Position.parse(end[1].end) < there:
        return False
    return all(load.is_done for load in read_loads(end[1].loads).values())


def changes(log: DirectoryLog, table: str | None = None) -> list[Change]:
    """Return the records of a log in the order of their batches."""
    every = [change for batch in log.read(0) for change in batch.changes]
    return [one for one in every if table in (None, one.table)]


def folded(found: Iterable[Change]) -> list[Row]:
    """Fold records of one table by version; the same version twice must be the same record."""
    newest: dict[str, Change] = {}
    seen: dict[tuple[str, int], bytes] = {}
    for change in found:
        key = json.dumps(change.key, sort_keys=True)
        line = encode(change)
        if change.op != "r":
            assert seen.setdefault((key, change.version), line) == line
        if key not in newest or newest[key].version < change.version:
            newest[key] = change
    return [one.after for one in newest.values() if one.after is not None]


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return rows in an order of their own."""
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def schemas(log: Changelog, table: str) -> list[TableSchema]:
    """Return a table's schemas by number."""
    return [one for one in log.schemas() if one.table == table]
