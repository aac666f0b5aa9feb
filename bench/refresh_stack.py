"""Test bed of the refresh benches: a real metastore, simulated front ends and the portal.

MariaDB with the metastore's and the portal's databases, tables of partitions, events put straight
into the notification log, and the portal's own programs.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
from pymetastore.hive_metastore import ttypes

from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.connectors.metastore import Metastore as Client
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login
from refresh.core.domain.versions import Dialect
from stack.clusters import USER, Clusters
from stack.ledger import Ledger
from stack.process import end_group
from stack.servers import mariadb
from stack.servers.mariadb import METASTORE, PORTAL, MariaDb
from stack.servers.metastore import Backing, Metastore
from stack.servers.starrocks import StarRocks

REPO = Path(__file__).resolve().parents[1]
LAKE, DB = LakeId("main"), "load"
TICK = 0.1
_FAR = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Event:
    """One change of a table, or of partitions of it; `message` where more is to be said."""

    table: str
    days: tuple[str, ...] = ()
    kind: str = "ADD_PARTITION"
    message: str = ""


@dataclass(slots=True)
class Sample:
    """How the queue stood at one moment."""

    behind: int
    waiting: int
    oldest: float


@dataclass(slots=True)
class Bench:
    """The running servers and the portal's programs."""

    work: Path
    database: MariaDb
    metastore: Metastore
    clusters: Clusters
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def config(self) -> LakeConfig:
        """Say where the lake is."""
        return LakeConfig(
            lake=LAKE,
            thrift_host="127.0.0.1",
            thrift_port=self.metastore.port,
            metastore_db=MetastoreDb(
                kind="mysql",
                jdbc_url=self.database.jdbc_url,
                driver=mariadb.DRIVER,
                user=mariadb.USER,
                password_file="",
                host="127.0.0.1",
                port=self.database.port,
                database=METASTORE,
            ),
            default_fs="file:///",
            spool=f"file://{self.work}/spool",
            time_zone="UTC",
            spark_master="local[1]",
            deployment_id="bench",
        )

    def environment(self, **settings: str) -> dict[str, str]:
        """Point the portal at this bench's servers."""
        lakes = self.work / "lakes.json"
        plain = self.config.as_dict()
        lakes.write_text(json.dumps({str(LAKE): plain}), encoding="utf-8")
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "portal.settings.development",
            "LAKEWARDEN_VAR": str(self.work),
            "LAKEWARDEN_LAKES": str(lakes),
            "LAKEWARDEN_DB_URL": self.database.portal_url,
            **settings,
        }

    def run(self, *words: str) -> None:
        """Run a command of the portal to its end."""
        argv = [sys.executable, str(REPO / "manage.py"), *words]
        subprocess.run(argv, env=self.environment(), cwd=REPO, check=True)

    def start(self, *words: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a program of the portal."""
        log = (self.work / f"{words[0]}.log").open("ab")
        program = subprocess.Popen(
            [sys.executable, str(REPO / "manage.py"), *words],
            env=self.environment(**settings),
            cwd=REPO,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.programs.append(program)
        return program

    def add_cluster(self, name: str, server: StarRocks) -> None:
        """Have the portal know a cluster."""
        at = [word for host, port in server.addresses for word in ("--at", f"{host}:{port}")]
        login = ("--user", USER, "--password-file", str(self.clusters.password_file))
        self.run("refresh_cluster", "add", name, *at, *login)

    def follow(self) -> None:
        """Start the follower and wait until it has found its place."""
        self.start("supervise")
        while not self.ask("select 1 from events_eventposition"):
            time.sleep(0.5)

    def ask(self, sql: str, *values: object, database: str = PORTAL) -> list[tuple[Any, ...]]:
        """Ask one of the two databases."""
        with self.database.connect(database) as link, link.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())

    def sample(self) -> Sample:
        """Look at the queue of the clusters that are not paused."""
        ((newest,),) = self.ask(
            "select NEXT_EVENT_ID - 1 from NOTIFICATION_SEQUENCE", database=METASTORE
        )
        ((position,),) = self.ask("select position from events_eventposition")
        ((waiting, oldest),) = self.ask(
            "select count(*), timestampdiff(microsecond, min(waits_since), utc_timestamp(6)) / 1e6 "
            "from refresh_refreshtarget join refresh_cluster of on of.id = cluster_id "
            "where due_at is not null and not is_paused"
        )
        return Sample(int(newest) - int(position), int(waiting), float(oldest or 0))


@contextmanager
def running(work: Path) -> Iterator[Bench]:
    """Start the servers, and end them and the portal's programs afterwards."""
    ledger = Ledger(work / "stack.json")
    database = MariaDb(work, ledger=ledger)
    backing = Backing(database.jdbc_url, mariadb.DRIVER, mariadb.USER, mariadb.PASSWORD)
    metastore = Metastore(
        work, ledger=ledger, backing=backing, warehouse=f"file://{work}/warehouse"
    )
    clusters = Clusters(work, ledger=ledger, uris=f"thrift://127.0.0.1:{metastore.port}")
    bench = Bench(work, database, metastore, clusters)
    try:
        for server in (database, metastore):
            server.start()
            server.wait_ready()
        bench.run("migrate", "--verbosity", "0")
        yield bench
    finally:
        for program in bench.programs:
            end_group(program.pid, grace_seconds=5)
        for one in (*clusters.running(), metastore, database):
            one.stop()


def make_tables(bench: Bench, *, n_tables: int, n_partitions: int) -> list[Event]:
    """Make the tables; gives every partition as an event that may happen to it."""
    events = []
    with Client.connect(bench.config, timeout_seconds=120) as client:
        root = f"file://{bench.work}/lake"
        client.create_database(ttypes.Database(DB, "", f"{root}/{DB}.db", {}, ownerName="bench"))
        for number in range(n_tables):
            name = TableName(LAKE, DB, f"t{number}")
            home = make_table(bench, client, name)
            days = [f"d{day}" for day in range(n_partitions)]
            client.add_partitions([partition(name, home, day) for day in days], if_not_exists=True)
            events += [Event(name.table, (day,)) for day in days]
    return events


def make_table(bench: Bench, client: Client, name: TableName) -> str:
    """Make one table without partitions; gives where it lies."""
    home = f"file://{bench.work}/lake/{DB}.db/{name.table}"
    client.create_table(
        ttypes.Table(
            tableName=name.table,
            dbName=name.db,
            owner="bench",
            sd=_storage(home),
            partitionKeys=[ttypes.FieldSchema("dt", "string", "")],
            parameters={"EXTERNAL": "TRUE"},
            tableType="EXTERNAL_TABLE",
        )
    )
    return home


def partition(name: TableName, home: str, day: str) -> ttypes.Partition:
    """Return a day of a table, as its writer would say it to the metastore."""
    return ttypes.Partition(
        values=[day],
        dbName=name.db,
        tableName=name.table,
        sd=_storage(f"{home}/dt={day}"),
        parameters={},
    )


def put_events(bench: Bench, chosen: Sequence[Event], *, rate: float) -> list[float]:
    """Put the events into the log at fixed moments, whether or not anybody reads.

    Gives the moment of each, before it was written.
    """
    per_tick = max(1, min(round(rate * TICK), len(chosen)))
    began = time.monotonic()
    put_at: list[float] = []
    with bench.database.connect(METASTORE) as link:
        for start in range(0, len(chosen), per_tick):
            wait = began + start / rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            some = chosen[start : start + per_tick]
            put_at += [time.monotonic()] * len(some)
            _insert(link, some)
    return put_at


def put_now(bench: Bench, event: Event) -> None:
    """Put one event into the log."""
    with bench.database.connect(METASTORE) as link:
        _insert(link, [event])


def drained(bench: Bench, *, seconds: float, but: int = 0) -> float:
    """Wait until nothing is behind, and none but so many wait; returns how long that took."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        now = bench.sample()
        if not now.behind and now.waiting <= but:
            return time.monotonic() - began
        time.sleep(0.5)
    raise SystemExit(f"It is not through after {seconds:.0f} s: {bench.sample()}")


def check_alarms(bench: Bench) -> None:
    """Stop with the reason if the follower raised an alarm."""
    alarms = bench.ask("select kind, detail from events_eventalarm limit 3")
    if alarms:
        raise SystemExit(f"There were alarms: {alarms}")


def check_endings(bench: Bench) -> None:
    """Stop with the reason if there was an alarm, or a statement that did not end well."""
    check_alarms(bench)
    bad = bench.ask(
        "select ending, said, count(*) from refresh_refresh where ending <> 'DONE' group by 1, 2"
    )
    if bad:
        raise SystemExit(f"Statements that did not end well: {bad}")


def client_of(
    bench: Bench, server: StarRocks, *, dialect: Dialect, number: int = 0, seconds: int = 30
) -> FrontEndClient:
    """Connect to a front end of a cluster, as whoever refreshes does."""
    host, port = server.addresses[number]
    client = FrontEndClient.connect(
        host,
        port,
        login=Login(USER, bench.clusters.password()),
        dialect=dialect,
        budget=Budget(query_timeout=seconds),
    )
    if not isinstance(client, FrontEndClient):
        raise SystemExit(f"A front end does not answer: {client}")
    return client


def spread(values: Sequence[float], *, unit: str = " s") -> str:
    """Say median, p95 and worst."""
    if not values:
        return "none"
    found = (statistics.median(values), p95(values), max(values))
    words = ("median", "p95", "worst")
    return ", ".join(f"{word} {value:.2f}{unit}" for word, value in zip(words, found, strict=True))


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    ordered = sorted(values)
    return ordered[int(0.95 * (len(ordered) - 1))]


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _insert(link: "pymysql.Connection[pymysql.cursors.Cursor]", events: Sequence[Event]) -> None:
    link.begin()
    with link.cursor() as cursor:
        cursor.execute("select NEXT_EVENT_ID from NOTIFICATION_SEQUENCE for update")
        first = int(cursor.fetchall()[0][0])
        cursor.executemany(
            "insert into NOTIFICATION_LOG (NL_ID, EVENT_ID, EVENT_TIME, EVENT_TYPE, CAT_NAME, "
            "DB_NAME, TBL_NAME, MESSAGE, MESSAGE_FORMAT) "
            "values (%s, %s, %s, %s, 'hive', %s, %s, %s, 'json-0.2')",
            [_row(first + number, event) for number, event in enumerate(events)],
        )
        cursor.execute(
            "update NOTIFICATION_SEQUENCE set NEXT_EVENT_ID = %s", (first + len(events),)
        )
    link.commit()


def _row(event_id: int, event: Event) -> tuple[object, ...]:
    said: dict[str, object] = {"db": DB, "table": event.table, "timestamp": 1}
    if event.days:
        said["partitions"] = [{"dt": day} for day in event.days]
    at, message = int(time.time()), event.message or json.dumps(said)
    return (_FAR + event_id, event_id, at, event.kind, DB, event.table, message)


def _storage(location: str) -> ttypes.StorageDescriptor:
    return ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema("id", "bigint", "")],
        location=location,
        serdeInfo=ttypes.SerDeInfo(parameters={}),
        parameters={},
    )
