"""The simulator as a process of the stack: over Thrift, with switches, ended like others."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from refresh.clusters.domain.frontends import read_frontends
from refresh.verify.domain.probing import read_costs, read_ddl
from stack.errors import StackError
from stack.ledger import Ledger
from stack.process import LOOPBACK, free_port
from stack.servers.starrocks import StarRocks
from stack.starrocks.control import ask
from stack.starrocks.front_end import Life
from stack.starrocks.hive import HiveError, MetastoreDown, NoSuchObject, ReadTimedOut
from stack.starrocks.link import Trouble
from stack.starrocks.spec import Privilege, Spec, User
from stack.starrocks.thrift_hive import ThriftHive
from tests.component.stack.starrocks.starrocks_cluster import QUICK
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served

DAY_1, DAY_2 = "dt=2026-11-01", "dt=2026-11-02"
SALES = "hive.shop.sales"
ONE = "127.0.0.2"


@pytest.fixture
def lake(tmp_path: Path) -> ThriftLake:
    lake = ThriftLake(SmallHive(), tmp_path / "lake")
    lake.write("sales", DAY_1, 5600)
    lake.write("sales", DAY_2, 5600)
    return lake


@pytest.fixture
def port(lake: ThriftLake) -> Iterator[int]:
    with served(lake) as port:
        yield port


def thrift(port: int, *, timeout: float = 5.0) -> ThriftHive:
    return ThriftHive(f"thrift://{LOOPBACK}:{port}", timeout_seconds=timeout)


def test_tables_partitions_and_files_come_over_thrift(lake: ThriftLake, port: int) -> None:
    lake.write("sales", "dt=10%3A30", 1)
    hive = thrift(port)
    assert hive.databases() == ["shop"]
    assert (hive.has_database("shop"), hive.has_database("nope")) == (True, False)
    assert hive.tables("shop") == ["sales", "shops"]
    table = hive.table("shop", "sales")
    assert (table.is_partitioned, table.is_external) == (True, True)
    assert table.parameters == {"transient_lastDdlTime": "1000"}
    assert hive.partition_names("shop", "sales") == ["dt=10%3A30", DAY_1, DAY_2]
    found = {one.name: one for one in hive.partitions(table, [DAY_2, "dt=10%3A30", "dt=2099"])}
    assert found.keys() == {"dt=10%3A30", DAY_2}
    assert hive.partitions(table, []) == []
    hive.statistics(table, [DAY_1])
    assert lake.asked[-1] == "statistics of 1"
    assert hive.file_bytes(found[DAY_2].location) == 5600  # and not what is hidden beside it
    assert hive.file_bytes(f"{table.location}/nowhere") == 0


def test_the_metastores_own_words_come_through(lake: ThriftLake, port: int) -> None:
    hive = thrift(port)
    with pytest.raises(NoSuchObject, match=r"NoSuchObjectException: hive\.shop\.nope table not"):
        hive.table("shop", "nope")
    lake.lake.add_table("broken", days=None)
    with pytest.raises(HiveError, match="MetaException: it is broken"):
        hive.table("shop", "broken")
    with pytest.raises(MetastoreDown, match="Could not connect to meta store using any of the"):
        thrift(free_port()).databases()


def test_a_restarted_metastore_is_found_again_and_any_of_its_addresses_will_do(
    lake: ThriftLake,
) -> None:
    here, nowhere = free_port(), free_port()
    hive = ThriftHive(
        f"thrift://{LOOPBACK}:{nowhere},thrift://{LOOPBACK}:{here}", timeout_seconds=5
    )
    for _ in range(2):
        with served(lake, port=here):
            assert hive.databases() == ["shop"]
    with pytest.raises(MetastoreDown):
        hive.databases()


def test_a_metastore_that_takes_the_call_and_never_answers_times_out(
    lake: ThriftLake, port: int
) -> None:
    hive = thrift(port, timeout=0.2)
    table = hive.table("shop", "sales")
    release = lake.lake.held["partitions sales"] = threading.Event()
    with pytest.raises(ReadTimedOut):
        hive.partitions(table, [DAY_1])
    release.set()


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[StarRocks]:
    spec = Spec(
        catalogs={"hive": f"thrift://{LOOPBACK}:{port}"},
        users={"svc": User("secret")},
        timings=QUICK,
    )
    server = StarRocks(tmp_path, ledger=Ledger(tmp_path / "stack.json"), spec=spec)
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()


def run(server: StarRocks, sql: str, *, number: int = 0) -> list[dict[str, str]]:
    host, port = server.addresses[number]
    client = pymysql.connect(
        host=host, port=port, user="svc", password="secret", read_timeout=20, ssl_disabled=True
    )
    with client, client.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def rows(server: StarRocks, number: int) -> int | None:
    with pytest.raises(pymysql.MySQLError, match="runs no queries"):
        run(server, " ".join(("SELECT * FROM", SALES)), number=number)
    plan = run(server, " ".join(("EXPLAIN COSTS SELECT * FROM", SALES)), number=number)
    return read_costs("\n".join(row["Explain String"] for row in plan)).cardinality


def test_staleness_over_thrift_is_real_and_a_refresh_ends_it(
    lake: ThriftLake, server: StarRocks
) -> None:
    assert [rows(server, number) for number in (0, 1)] == [200, 200]
    lake.write("sales", DAY_2, 56_000)
    assert [rows(server, number) for number in (0, 1)] == [200, 200]
    run(server, f"REFRESH EXTERNAL TABLE {SALES} PARTITION ('{DAY_2}')", number=2)
    assert [rows(server, number) for number in (0, 1)] == [1100, 1100]
    (shown,) = run(server, f"SHOW CREATE TABLE {SALES}")
    assert read_ddl(shown["Create Table"]).ddl_time == 1000
    assert server.calls()["127.0.0.4_9010_3"]["get_partitions_statistics_req"] == 1
    assert any(entry["statement"].startswith("REFRESH") for entry in server.audit())


def test_faults_are_switched_from_outside(server: StarRocks) -> None:
    before = read_frontends(run(server, "SHOW FRONTENDS", number=1))
    assert [(fe.host, fe.query_port) for fe in before] == server.addresses
    server.set_life(ONE, Life.DEAD)
    with pytest.raises(pymysql.err.OperationalError):
        run(server, "SHOW CATALOGS")
    server.set_life(ONE, Life.RUNNING)
    server.restart_front_end(ONE)
    assert read_frontends(run(server, "SHOW FRONTENDS"))[0].start > before[0].start
    server.set_weather(None, Trouble.DOWN)
    with pytest.raises(pymysql.err.ProgrammingError, match="Could not connect to meta store"):
        run(server, "SHOW DATABASES FROM hive")
    server.set_weather(None, delay=0.001)
    assert run(server, "SHOW DATABASES FROM hive")
    server.set_user("svc", "secret", frozenset({Privilege.SELECT}))
    with pytest.raises(pymysql.err.OperationalError, match="ALTER privilege"):
        run(server, f"REFRESH EXTERNAL TABLE {SALES}")
    for do, arguments in (
        ("nothing", {}),
        ("restart", {"front_end": "x"}),
        ("life", {"front_end": ONE, "life": "x"}),
    ):
        with pytest.raises(StackError, match=f"could not {do}"):
            ask(server.port, do, **arguments)


def test_it_stands_in_the_ledger_and_its_file_is_private(server: StarRocks) -> None:
    (record,) = server.ledger.running()
    assert (record.name, record.port) == ("starrocks", server.port)
    assert (server.directory / "cluster.json").stat().st_mode & 0o777 == 0o600
    server.stop()
    assert server.ledger.running() == []
