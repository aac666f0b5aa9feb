"""The clusters of a stack: started when asked for, told in a file, found again where they were."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from refresh.core.connectors.front_end import FrontEndClient, Login
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from stack.clusters import CATALOG, RESOURCE, USER, Clusters
from stack.ledger import Ledger
from stack.process import LOOPBACK, free_port
from stack.starrocks.spec import ResourceTable
from tests.component.stack.starrocks.starrocks_cluster import QUICK
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served


@pytest.fixture
def uris(tmp_path: Path) -> Iterator[str]:
    with served(ThriftLake(SmallHive(), tmp_path / "lake")) as port:
        yield f"thrift://{LOOPBACK}:{port}"


@contextmanager
def clusters(var: Path, uris: str) -> Iterator[Clusters]:
    made = Clusters(var, ledger=Ledger(var / "stack.json"), uris=uris)
    made.timings = QUICK
    try:
        yield made
    finally:
        for server in made.running():
            server.stop()


def login(made: Clusters) -> Login:
    return Login(USER, made.password_file.read_text(encoding="utf-8"))


def test_nothing_runs_before_it_is_asked_for(tmp_path: Path, uris: str) -> None:
    with clusters(tmp_path, uris) as made:
        assert made.running() == []
        assert not made.file.exists()
        server = made.new
        assert made.new is server
        assert made.running() == [server]
        assert [record.name for record in server.ledger.running()] == ["starrocks-bi"]


def test_the_file_tells_the_portal_where_and_by_which_login(tmp_path: Path, uris: str) -> None:
    with clusters(tmp_path, uris) as made:
        server = made.new
        (told,) = json.loads(made.file.read_text(encoding="utf-8"))
        assert server.ledger.fact("starrocks") == str(made.file)
        assert told["front_ends"] == [f"{host}:{port}" for host, port in server.addresses]
        assert (told["name"], told["user"]) == ("bi", USER)
        assert told["password_file"] == str(made.password_file)
        assert made.password_file.stat().st_mode & 0o777 == 0o600
        for host, port in server.addresses:
            fe = FrontEndClient.connect(host, port, login=login(made), dialect=Dialect.CATALOGS)
            assert isinstance(fe, FrontEndClient)
            with fe:
                assert fe.catalogs() == {"hive": uris}


def test_the_new_one_reads_another_metastore_besides(tmp_path: Path, uris: str) -> None:
    with clusters(tmp_path, uris) as made:
        made.catalogs["research"] = f"thrift://{LOOPBACK}:9083"
        host, port = made.new.addresses[0]
        fe = FrontEndClient.connect(host, port, login=login(made), dialect=Dialect.CATALOGS)
        assert isinstance(fe, FrontEndClient)
        with fe:
            assert fe.catalogs() == made.catalogs
            assert fe.catalogs().keys() == {CATALOG, "research"}


def test_a_table_on_a_resource_is_added_to_the_old_one_while_it_runs(
    tmp_path: Path, uris: str
) -> None:
    with clusters(tmp_path, uris) as made:
        host, port = made.old.addresses[0]
        fe = FrontEndClient.connect(host, port, login=login(made), dialect=Dialect.RESOURCES)
        assert isinstance(fe, FrontEndClient)
        made.old.add_table(
            ResourceTable("ext", "s", RESOURCE, "shop", "sales", (("id", "bigint(20)"),))
        )
        with fe:
            assert fe.resources() == {RESOURCE: uris}
            assert fe.tables("ext") == ["s"]
            found = fe.resource_table(ExternalTable(ClusterId("reports"), "", "ext", "s"))
        assert found is not None
        assert (found.hive_db, found.hive_table) == ("shop", "sales")


def test_a_later_run_has_the_same_places_and_password_unless_a_port_is_taken(
    tmp_path: Path, uris: str
) -> None:
    with clusters(tmp_path, uris) as made:
        before, first_login = made.new.addresses, login(made)
        lingering = [socket.create_connection(address) for address in before]
    for connection in lingering:
        connection.close()
    with clusters(tmp_path, uris) as made:
        assert made.new.addresses == before
        assert login(made) == first_login
        old = made.old.addresses
    with socket.create_server(before[0]), clusters(tmp_path, uris) as made:
        assert made.new.addresses[0] != before[0]
        assert made.new.addresses[1:] == before[1:]
        told = json.loads(made.file.read_text(encoding="utf-8"))
    places = {one["name"]: one["front_ends"][0] for one in told}
    assert places["reports"] == f"{old[0][0]}:{old[0][1]}"
    assert places["bi"] != f"{before[0][0]}:{before[0][1]}"


def test_a_wanted_port_is_given_only_if_it_is_free() -> None:
    wanted = free_port()
    assert free_port(wanted=wanted) == wanted
    with socket.socket() as other:
        other.bind((LOOPBACK, wanted))
        assert free_port(wanted=wanted) != wanted


def test_no_port_is_given_twice_nor_one_that_linux_gives() -> None:
    ports = [free_port() for _ in range(100)]
    assert len(set(ports)) == len(ports)
    assert max(ports) < 32_768
