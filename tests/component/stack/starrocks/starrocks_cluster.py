"""Clusters of simulated front ends over a small lake, and clients that speak to them by PyMySQL."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pymysql
from pymysql.cursors import DictCursor

from refresh.clusters.domain.frontends import FrontEnd, read_frontends
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import NEW, OLD, Privilege, ResourceTable, Spec, Timings, User
from tests.support.small_hive import SmallHive

URIS = "thrift://127.0.0.1:9083"
QUICK = Timings(
    metastore_timeout=0.05, rpc_timeout=0.2, heartbeat=0.0, listing_with_a_frozen_one=0.0
)
USERS = {
    "svc": User("secret"),
    "reader": User("secret", frozenset({Privilege.SELECT})),
    "nobody": User("secret", frozenset()),
}
ON_RESOURCE = ResourceTable(
    "ext", "sales_in_sr", "hive0", "shop", "sales", (("id", "bigint(20)"), ("dt", "varchar(10)"))
)


def spec(version: str = NEW, *, timings: Timings = QUICK) -> Spec:
    """A cluster of three, with a catalog `hive` (3.x) or a resource `hive0` (2.2)."""
    if version == OLD:
        tables = (ON_RESOURCE,)
        return Spec(OLD, resources={"hive0": URIS}, tables=tables, users=USERS, timings=timings)
    return Spec(NEW, catalogs={"hive": URIS}, users=USERS, timings=timings)


@contextmanager
def running(
    lake: SmallHive, version: str = NEW, *, timings: Timings = QUICK
) -> Iterator[RunningCluster]:
    """Run a cluster over a lake."""
    with RunningCluster(spec(version, timings=timings), hives={URIS: lake}) as cluster:
        yield cluster


class Client:
    """A connection to one front end."""

    def __init__(
        self, cluster: RunningCluster, number: int = 1, *, user: str = "svc", timeout: float = 10
    ) -> None:
        host, port = cluster.addresses()[number - 1]
        self.connection = pymysql.connect(
            host=host,
            port=port,
            user=user,
            password="secret",
            autocommit=True,
            ssl_disabled=True,
            connect_timeout=5,
            read_timeout=timeout,
            cursorclass=DictCursor,
        )

    def run(self, sql: str) -> list[dict[str, Any]]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def error(self, sql: str) -> tuple[int, str]:
        try:
            self.run(sql)
        except pymysql.MySQLError as error:
            return (int(error.args[0]), str(error.args[1]))
        raise AssertionError(f"{sql} was answered")

    def query(self, table: str) -> None:
        """Have a query load what it reads; the simulator cannot run it."""
        assert self.error(" ".join(("SELECT * FROM", table)))[1] == "The simulator runs no queries."

    def costs(self, table: str) -> str:
        rows = self.run(" ".join(("EXPLAIN COSTS SELECT * FROM", table)))
        return "\n".join(str(row["Explain String"]) for row in rows)


def listed(client: Client) -> list[FrontEnd]:
    """The front ends as the reader of SHOW FRONTENDS has them."""
    return read_frontends(client.run("SHOW FRONTENDS"))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another thread brings about."""
    waited = threading.Event()
    for _ in range(1000):
        if is_so():
            return
        waited.wait(0.01)
    raise AssertionError("it never came to be")
