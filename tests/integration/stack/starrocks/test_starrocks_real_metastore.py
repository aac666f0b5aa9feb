"""Simulated front ends over a real metastore and real Spark writes: staleness, and what ends it."""

import pytest

from refresh.core.connectors.front_end import FrontEndClient, Login
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from stack.clusters import CATALOG, RESOURCE, USER
from stack.servers.starrocks import StarRocks
from stack.stack import Stack
from stack.starrocks.front_end import Life
from stack.starrocks.spec import ResourceTable
from tests.component.stack.starrocks.starrocks_cluster import wait_until
from tests.support.sql import SqlShell

BI = ClusterId("bi")
SALES = ExternalTable(BI, CATALOG, "fe_shop", "sales")
IN_SR = ExternalTable(BI, "", "ext", "sales_in_sr")


@pytest.fixture(scope="module")
def sql(embedded_sql: SqlShell) -> SqlShell:
    embedded_sql.run(
        "create database if not exists fe_shop",
        "create table fe_shop.sales (id bigint) partitioned by (dt string) stored as parquet",
    )
    write(embedded_sql, "2026-11-01", 1)
    write(embedded_sql, "2026-11-02", 1)
    return embedded_sql


def write(shell: SqlShell, day: str, n_rows: int) -> None:
    into, rows = f"partition (dt='{day}')", f"range({n_rows})"
    shell.run(" ".join(("insert overwrite table fe_shop.sales", into, "select id from", rows)))


@pytest.fixture(scope="module")
def clusters(embedded_stack: Stack) -> dict[Dialect, StarRocks]:
    table = ResourceTable(
        "ext", "sales_in_sr", RESOURCE, "fe_shop", "sales", (("id", "bigint(20)"),)
    )
    embedded_stack.old_starrocks.add_table(table)
    return {
        Dialect.CATALOGS: embedded_stack.starrocks,
        Dialect.RESOURCES: embedded_stack.old_starrocks,
    }


def client(server: StarRocks, number: int, dialect: Dialect) -> FrontEndClient:
    host, port = server.addresses[number]
    found = FrontEndClient.connect(host, port, login=login(server), dialect=dialect)
    assert isinstance(found, FrontEndClient)
    return found


def login(server: StarRocks) -> Login:
    return Login(USER, server.spec.users[USER].password)


@pytest.mark.parametrize("dialect", Dialect)
def test_r1_r2_r5_what_spark_writes_is_seen_after_a_refresh_and_not_before(
    clusters: dict[Dialect, StarRocks], sql: SqlShell, dialect: Dialect
) -> None:
    server = clusters[dialect]
    table = SALES if dialect is Dialect.CATALOGS else IN_SR
    fes = [client(server, number, dialect) for number in range(3)]
    sql.run("alter table fe_shop.sales drop if exists partition (dt='2026-11-03')")
    write(sql, "2026-11-02", 1)
    assert fes[0].refresh(table) is None
    assert fes[0].refresh(table, ["dt=2026-11-01", "dt=2026-11-02"]) is None
    before = [fe.plan(table) for fe in fes]
    assert before == [before[0]] * 3
    assert before[0].n_partitions == 2

    write(sql, "2026-11-02", 100_000)  # into an existing partition: the metastore says nothing
    write(sql, "2026-11-03", 1)
    assert [fe.plan(table) for fe in fes] == before
    assert fes[1].refresh(table) is None
    assert fes[1].refresh(table, ["dt=2026-11-02", "dt=2026-11-03"]) is None
    after = [fe.plan(table) for fe in fes]
    assert after == [after[0]] * 3
    assert after[0].n_partitions == 3
    assert (after[0].cardinality or 0) > 10 * (before[0].cardinality or 0)

    server.set_life("127.0.0.3", Life.DEAD)
    answer = fes[0].refresh(table)
    assert isinstance(answer, Answer)
    assert answer.meaning is ErrorKind.PARTIAL
    server.set_life("127.0.0.3", Life.RUNNING)
    assert client(server, 1, dialect).plan(table).n_partitions == 3  # cold: it loads again

    answer = fes[0].refresh(table, ["dt=2099-01-01"])
    assert isinstance(answer, Answer)
    assert answer.meaning in (ErrorKind.PARTITION_UNKNOWN, ErrorKind.NAME_UNKNOWN)
    for fe in fes:
        fe.close()


def test_a_table_that_the_real_metastore_does_not_have_is_said_in_its_words(
    clusters: dict[Dialect, StarRocks], sql: SqlShell
) -> None:
    with client(clusters[Dialect.CATALOGS], 0, Dialect.CATALOGS) as fe:
        answer = fe.refresh(ExternalTable(BI, CATALOG, "fe_shop", "nope"))
        assert isinstance(answer, Answer)
        assert answer.meaning is ErrorKind.NAME_UNKNOWN
        assert "fe_shop.nope table not found" in answer.text
        assert fe.tables("fe_shop", catalog=CATALOG) == ["sales"]
        assert fe.kept_table(SALES).location is not None


def test_files_on_hdfs_count(full_stack: Stack, full_sql: SqlShell) -> None:
    full_sql.run(
        "create database if not exists fe_hdfs",
        "create table fe_hdfs.sales (id bigint) stored as parquet",
    )
    into = "insert into fe_hdfs.sales select id from"
    full_sql.run(" ".join((into, "range(1)")))
    sales = ExternalTable(BI, CATALOG, "fe_hdfs", "sales")
    with client(full_stack.starrocks, 2, Dialect.CATALOGS) as fe:
        before = fe.plan(sales).cardinality or 0
        full_sql.run(" ".join((into, "range(100000)")))
        assert fe.plan(sales).cardinality == before
        assert fe.refresh(sales) is None
        assert (fe.plan(sales).cardinality or 0) > 10 * before


@pytest.mark.parametrize("dialect", Dialect)
def test_a_front_end_that_was_killed_and_came_back_is_seen_in_show_frontends(
    clusters: dict[Dialect, StarRocks], sql: SqlShell, dialect: Dialect
) -> None:
    server = clusters[dialect]
    host, port = server.addresses[2]
    with client(server, 1, dialect) as fe:
        # A test before this one may have killed a front end: its return is heard at a heartbeat.
        wait_until(lambda: all(one.is_alive for one in fe.front_ends()))
        before = fe.front_ends()
        assert [(one.host, one.query_port, one.is_alive) for one in before] == [
            (*address, True) for address in server.addresses
        ]
        server.set_life(host, Life.DEAD)
        wait_until(lambda: not fe.front_ends()[2].is_alive)
        dead = fe.front_ends()[2]
        assert (dead.start, dead.error) == ("", "Connection refused")
        refused = FrontEndClient.connect(host, port, login=login(server), dialect=dialect)
        assert isinstance(refused, Answer)
        assert refused.meaning is ErrorKind.FE_REFUSED
        server.set_life(host, Life.RUNNING)
        wait_until(lambda: fe.front_ends()[2].is_alive)
        after = fe.front_ends()
    assert after[2].start > before[2].start
    assert [one.start for one in after[:2]] == [one.start for one in before[:2]]
    client(server, 2, dialect).close()
