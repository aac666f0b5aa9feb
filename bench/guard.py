"""Measures what the guard costs each metastore call.

Two metastores on one MariaDB, one with the guard and one without, are asked the same in turn. Of
each kind of call the SQL statements, the server's processor time and the median wall time are
compared: the first is exact, the last says little on a busy machine. `python -m bench.guard
--help`; figures in bench/README.md.
"""

import argparse
import statistics
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import psutil
from pymetastore.hive_metastore import ttypes

from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.connectors.metastore import Metastore as Client
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.ledger import Ledger
from stack.servers import mariadb
from stack.servers.guard import JAR, Guard
from stack.servers.mariadb import MariaDb
from stack.servers.metastore import Backing, Metastore

USER = "eve"  # no lifecycle admin, so that every rule is asked
PARTITIONS = 20
LAKE = LakeId("bench")


class GuardedMetastore(Metastore):
    """The one with the guard."""

    name = "guarded"


@dataclass(slots=True)
class Cost:
    """What the calls of one kind took, a value a round (`wall`: a list)."""

    wall: list[list[float]] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    statements: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Asked:
    """One metastore, the database below it, and what its calls cost."""

    client: Client
    server: psutil.Process
    database: MariaDb
    root: str
    costs: dict[str, Cost] = field(default_factory=lambda: defaultdict(Cost))

    def ask(self, n: int) -> None:
        """Make, read, change and drop `n` tables, one kind of call after the other."""
        db = f"bench_{uuid.uuid4().hex[:10]}"
        self.client.create_database(
            ttypes.Database(db, "", f"{self.root}/user/{USER}/{db}", {"TTL": "90"}, ownerName=USER)
        )
        names = [TableName(LAKE, db, f"t{number}") for number in range(n)]
        self._batch("create_table", [partial(self._create, name) for name in names])
        self._batch("get_table (a read)", [partial(self.client.table, name) for name in names])
        tables = [self.client.table(name) for name in names]
        for table in tables:
            table.parameters["note"] = "changed"
        alter = self.client.alter_table_keeping_times
        pairs = zip(names, tables, strict=True)
        self._batch("alter_table", [partial(alter, name, table) for name, table in pairs])
        self._batch(f"add {PARTITIONS} partitions", [partial(self._add, name) for name in names])
        drops = [partial(self.client.drop_table, name) for name in names]
        self._batch(f"drop_table of {PARTITIONS} partitions", drops)

    def _batch(self, kind: str, calls: Sequence[Callable[[], object]]) -> None:
        cost, walls = self.costs[kind], []
        statements, cpu = self._statements(), self._cpu()
        for call in calls:
            started = time.perf_counter()
            call()
            walls.append(time.perf_counter() - started)
        cost.cpu.append((self._cpu() - cpu) / len(calls))
        cost.statements.append((self._statements() - statements) / len(calls))
        cost.wall.append(walls)

    def _cpu(self) -> float:
        times = self.server.cpu_times()
        return float(times.user + times.system)

    def _statements(self) -> int:
        with self.database.connect() as link:
            cursor = link.cursor()
            cursor.execute("show global status like 'Questions'")
            row = cursor.fetchone()
        return int(row[1]) if row else 0

    def _storage(self, location: str) -> ttypes.StorageDescriptor:
        return ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema(f"c{number}", "string", "") for number in range(30)],
            location=location,
            serdeInfo=ttypes.SerDeInfo(parameters={}),
            parameters={},
        )

    def _home(self, name: TableName) -> str:
        return f"{self.root}/user/{USER}/{name.db}/{name.table}"

    def _create(self, name: TableName) -> None:
        self.client.create_table(
            ttypes.Table(
                tableName=name.table,
                dbName=name.db,
                owner=USER,
                sd=self._storage(self._home(name)),
                partitionKeys=[ttypes.FieldSchema("dt", "string", "")],
                parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )
        )

    def _add(self, name: TableName) -> None:
        self.client.add_partitions(
            [
                ttypes.Partition(
                    values=[str(number)],
                    dbName=name.db,
                    tableName=name.table,
                    sd=self._storage(f"{self._home(name)}/dt={number}"),
                    parameters={},
                )
                for number in range(PARTITIONS)
            ],
            if_not_exists=False,
        )


@contextmanager
def metastores(work: Path) -> Iterator[tuple[Asked, Asked]]:
    """Start both on one MariaDB; returns the plain one, then the guarded one (enforce, deny)."""
    ledger = Ledger(work / "stack.json")
    database = MariaDb(work, ledger=ledger)
    backing = Backing(database.jdbc_url, mariadb.DRIVER, mariadb.USER, mariadb.PASSWORD)
    root = f"file://{work}/lake"
    guard = Guard(work / "guard.properties", owner_place=f"{root}/user/{{owner}}")
    plain = Metastore(work, ledger=ledger, backing=backing, warehouse=f"{root}/warehouse")
    guarded = GuardedMetastore(
        work,
        ledger=ledger,
        backing=backing,
        warehouse=f"{root}/warehouse",
        properties=guard.properties(),
    )
    guarded.extra_jars = (JAR,)
    guard.switch({"guard.mode": "enforce", "guard.paths": "deny"})
    try:
        for server in (database, plain, guarded):
            server.start()
            server.wait_ready()
        first, second = (
            Asked(
                Client.connect(_config(server.port, database)),
                psutil.Process(server.process.pid),
                database,
                root,
            )
            for server in (plain, guarded)
        )
        yield first, second
    finally:
        for server in (guarded, plain, database):
            server.stop()


def _config(port: int, database: MariaDb) -> LakeConfig:
    return LakeConfig(
        lake=LAKE,
        thrift_host="127.0.0.1",
        thrift_port=port,
        metastore_db=MetastoreDb(
            kind="mysql",
            jdbc_url=database.jdbc_url,
            driver=mariadb.DRIVER,
            user=mariadb.USER,
            password_file="",
            host="127.0.0.1",
            port=database.port,
            database=mariadb.METASTORE,
        ),
        default_fs="file:///",
        spool="file:///tmp",
        time_zone="UTC",
        spark_master="local[1]",
        deployment_id="bench",
        hadoop_user=USER,
    )


def report(plain: dict[str, Cost], guarded: dict[str, Cost]) -> Iterator[str]:
    """Yield the rows of the table in bench/README.md: without, with and (ratio)."""
    yield "| call | SQL statements | processor ms of the metastore | wall ms, median | per round |"
    yield "|---|---|---|---|---|"
    for kind, without in plain.items():
        held = guarded[kind]
        rounds = [
            statistics.median(there) / statistics.median(here)
            for here, there in zip(without.wall, held.wall, strict=True)
        ]
        walls = [1000 * statistics.median(chain.from_iterable(one.wall)) for one in (without, held)]
        cpus = [1000 * statistics.median(one.cpu) for one in (without, held)]
        statements = [statistics.median(one.statements) for one in (without, held)]
        cells = [_pair(*pair) for pair in (statements, cpus, walls)]
        yield f"| {kind} | {' | '.join(cells)} | {min(rounds):.2f} to {max(rounds):.2f} |"


def _pair(without: float, held: float) -> str:
    return f"{without:.1f}, {held:.1f} ({held / without:.2f})"


def main() -> None:
    """Ask both in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("var/bench-guard"))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--tables", type=int, default=40, help="tables a round")
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with metastores(work) as (plain, guarded):
        for one in (plain, guarded):
            one.ask(asked.tables)  # both JVMs warm up
            one.costs.clear()
        for number in range(asked.rounds):
            for one in (plain, guarded) if number % 2 else (guarded, plain):
                one.ask(asked.tables)
        sys.stdout.write("\n".join(report(plain.costs, guarded.costs)) + "\n")


if __name__ == "__main__":
    main()
