"""A source for the bench of change capture: one table of sales, its changes, and its digest.

Rows and changes are made by statements over sets, so that the server and not this program sets the
pace; which rows change is by a seed.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import TableSchema
from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER, SourceDb

DB = "shop"
_COLUMNS = """id int not null primary key, customer int not null, qty int not null,
    price decimal(10,2) not null, status varchar(16) not null, note varchar(80),
    stamp bigint not null, ordered_at datetime not null"""
_NEW = """seq, seq * 7919 % 100003, 1 + seq % 9, (seq * 37 % 1000000) / 100,
    elt(1 + seq % 5, 'new', 'paid', 'packed', 'sent', 'returned'),
    if(seq % 10 = 0, null, concat('note ', sha1(seq))), {stamp},
    timestamp'2025-01-01 00:00:00' + interval seq * 17 % 31536000 second"""
_AT_ONCE = 250_000
CHANGES = 1_000
"""Rows that one transaction of `Changes` changes: 60 % updates, 30 % inserts, 10 % deletes."""
_TENTH = 10
"""Every tenth key may be deleted, and no other; the others may be updated."""


class VersionedDb(SourceDb):
    """The same server that tells another version of itself."""

    version = ""

    def command(self) -> Sequence[str]:
        """Return the argv with the version."""
        told = (f"--version={self.version}",) if self.version else ()
        return [*super().command(), *told]


@contextmanager
def running(work: Path, *, version: str = "") -> Iterator["Shop"]:
    """Run the source of a folder until the block ends; `version` is what it says that it is."""
    server = VersionedDb(work / "source", ledger=Ledger(work / "source" / "stack.json"))
    server.version = version
    server.start()
    try:
        server.wait_ready()
        yield Shop(Address.of(server))
    finally:
        server.stop()


def digest_sql(table: str, moment: str) -> str:
    """Return the statement that tells tables apart, for both engines; `moment` prints a time."""
    texts = ("id", "customer", "qty", "price", "status", "stamp")
    cells = ", ".join(f"cast({name} as char(40))" for name in texts)
    whole = f"concat_ws('|', {cells}, {moment}, coalesce(note, '-'))"
    sums = ", ".join(f"sum({name})" for name in ("id", "qty", "price", "stamp"))
    return f"select count(*), {sums}, sum(crc32({whole})) from {table}"


@dataclass(frozen=True)
class Address:
    """Where a source is; other processes are told it."""

    port: int
    socket: str

    @classmethod
    def of(cls, server: SourceDb) -> "Address":
        """Return that of a server."""
        return cls(server.port, str(server.socket))


class Shop:
    """The database of the source, over a connection of this process."""

    def __init__(self, address: Address) -> None:
        self.address, self.port = address, address.port
        self.link = pymysql.connect(unix_socket=address.socket, user="root", autocommit=True)
        self.run(f"create database if not exists {DB} character set utf8mb4", f"use {DB}")

    def run(self, *statements: str) -> None:
        """Execute statements."""
        with self.link.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def ask(self, statement: str) -> tuple[Any, ...]:
        """Return the first row of an answer."""
        with self.link.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone() or ()

    def make(self, table: str, n_rows: int) -> None:
        """Make a table of sales with some rows, which are not logged."""
        self.run("set sql_log_bin = 0", f"use {DB}", f"drop table if exists {table}")
        self.run(f"create table {table} ({_COLUMNS})")
        for first in range(1, n_rows + 1, _AT_ONCE):
            last = min(first + _AT_ONCE - 1, n_rows)
            new = _NEW.format(stamp=0)
            self.run(f"insert into {table} select {new} from seq_{first}_to_{last}")
        self.run("set sql_log_bin = 1")

    def digest(self, table: str) -> tuple[str, ...]:
        """Return count and sums of a table as texts."""
        moment = "date_format(ordered_at, '%Y-%m-%d %H:%i:%s')"
        return tuple(map(str, self.ask(digest_sql(f"{DB}.{table}", moment))))

    def position(self) -> Position:
        """Return where the binary log ends."""
        file, offset, *_ = self.ask("show master status")
        return Position(0, file, int(offset))

    def config(self, server_id: int, *tables: str) -> SourceConfig:
        """Return what a capture of some tables is told, with the limits that are the rule."""
        names = tuple(f"{DB}.{table}" for table in tables)
        return SourceConfig(
            f"bench{server_id}",
            LOOPBACK,
            self.port,
            CAPTURE_USER,
            CAPTURE_PASSWORD,
            server_id,
            names,
        )

    def schema(self, table: str) -> TableSchema:
        """Return a table's schema as its first capture will number it."""
        source = Source(self.config(1, table))
        try:
            found = source.table(DB, table).schema
        finally:
            source.close()
        if found is None:
            raise SystemExit(f"The source has no table {table}.")
        return TableSchema(DB, table, 1, 0, found.columns, found.key)


class Changes:
    """Transactions that change a table, one after another, with a growing stamp."""

    def __init__(self, shop: Shop, table: str, n_rows: int, *, seed: int = 2026) -> None:
        self._shop, self._table, self._next = shop, table, n_rows + 1
        self._dice = random.Random(seed)
        self._there = n_rows
        self.stamp = 0

    def commit(self, n: int = CHANGES) -> None:
        """Change `n` rows or a few less; the inserts come last and carry the stamp."""
        self.stamp += 1
        n_inserts = max(1, n * 3 // 10)
        # Keys that are deleted are never updated, so that a peer that knows no version is right.
        kept = [ten + self._dice.randrange(1, _TENTH) for ten in self._tens(n * 6 // 10)]
        gone = [ten + _TENTH for ten in self._tens(n // 10)]
        new = _NEW.format(stamp=self.stamp)
        last = self._next + n_inserts - 1
        self._shop.run("begin")
        if kept:
            self._shop.run(
                f"update {self._table} set qty = qty + 1, stamp = {self.stamp}, status = 'changed'"
                f" where id in ({_listed(kept)})"
            )
        if gone:
            self._shop.run(f"delete from {self._table} where id in ({_listed(gone)})")
        self._shop.run(
            f"insert into {self._table} select {new} from seq_{self._next}_to_{last}", "commit"
        )
        self._next = last + 1

    def _tens(self, n: int) -> list[int]:
        return [ten * _TENTH for ten in self._dice.sample(range(self._there // _TENTH), n)]


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(map(str, keys))
