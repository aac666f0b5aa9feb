"""Trino's own client protocol through the proxy: rows as without it, fewer files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from optimizer.proxy.jobs.forwarding import Proxy
from optimizer.proxy.jobs.pruner import Pruner
from optimizer.proxy.jobs.rewriting import Rewriters
from stack.places import REPO
from stack.process import ServerProcess, free_port, port_answers
from stack.servers.trino import CATALOG, Trino
from stack.stack import Stack
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.served import served
from tests.support.trino_client import QueryFailedError, TrinoClient
from tests.trino.optimizer.pruning.test_pruned_on_trino import make


@pytest.fixture(scope="module")
def logs(lake: IcebergLake) -> WrittenTable:
    return make(lake, "proxied", 8)


@pytest.fixture(scope="module")
def proxied(logs: WrittenTable, trino_server: Trino) -> Iterator[TrinoClient]:
    """The same person's connection through the proxy."""
    lake = logs.lake
    pruner = Pruner(lake.spark, lake.config, catalog=CATALOG, tables=["shop.prox*"])
    proxy = Proxy(trino_server.url, Rewriters([pruner], seconds=60))
    with served(proxy) as address:
        yield TrinoClient.at(address, catalog=CATALOG, schema=lake.db)


def test_queries_through_the_proxy_read_less_and_give_the_same_rows(
    proxied: TrinoClient, trino: TrinoClient, trino_server: Trino, logs: WrittenTable
) -> None:
    (row,) = trino.run(f"SELECT id, word FROM {logs.sql} WHERE word LIKE '%05-011%'").rows
    for where in (f"id = {row[0]}", "word LIKE '%it''s 05-011%'"):
        plain = trino.run(f"SELECT *, 1E0 AS x FROM {logs.sql} WHERE {where}")
        found = proxied.run(f"SELECT *, 1E0 AS x FROM proxied WHERE {where}")
        assert (found.rows, found.columns) == (plain.rows, plain.columns)
        assert found.physical_bytes < plain.physical_bytes / 2
        assert all(address.startswith(trino_server.url) for address in found.addresses)


def test_all_else_works_as_without_the_proxy(
    proxied: TrinoClient, trino: TrinoClient, logs: WrittenTable
) -> None:
    for sql in (
        "SHOW TABLES",
        "SELECT count(*) FROM proxied",
        "SELECT catalog_name FROM system.metadata.catalogs ORDER BY 1",
        "SELECT count(*) FROM proxied WHERE random() < 2",
        "VALUES 1, 2",
    ):
        assert proxied.run(sql).rows == TrinoClient(trino.url, proxied.headers).run(sql).rows
    assert proxied.run("EXPLAIN SELECT * FROM proxied WHERE id = 5").rows
    prepared = dict(proxied.headers) | {
        "X-Trino-Prepared-Statement": "q=SELECT+count%28%2A%29+FROM+proxied+WHERE+id+%3D+%3F"
    }
    (some,) = trino.run(f"SELECT min(id) FROM {logs.sql}").rows
    assert TrinoClient(proxied.url, prepared).run(f"EXECUTE q USING {some[0]}").rows == [[1]]
    with pytest.raises(QueryFailedError, match="does not exist"):
        proxied.run("SELECT * FROM nowhere WHERE id = 5")


def test_what_was_just_written_is_read(proxied: TrinoClient, logs: WrittenTable) -> None:
    proxied.run("INSERT INTO proxied VALUES (-7, 'of the proxy', 1, DECIMAL '1.00')")
    assert proxied.run("SELECT word FROM proxied WHERE id = -7").rows == [["of the proxy"]]
    proxied.run("DELETE FROM proxied WHERE id = -7")
    assert proxied.run("SELECT word FROM proxied WHERE id = -7").rows == []


def test_the_program_serves_until_it_is_ended(
    trino: TrinoClient,
    trino_server: Trino,
    logs: WrittenTable,
    embedded_stack: Stack,
    tmp_path: Path,
) -> None:
    port = free_port()
    program = ServerProcess("trino-proxy", tmp_path / "proxy.log")
    program.start(
        [
            *(sys.executable, "-m", "optimizer.proxy.jobs.serve"),
            *("--coordinator", trino_server.url, "--lakes", str(embedded_stack.lakes_file)),
            *("--tables", "shop.proxied", "--listen", f"127.0.0.1:{port}", "--seconds", "100"),
        ],
        environment={**os.environ, **embedded_stack.ledger.environment()},
        cwd=REPO,
        port=port,
    )
    try:
        program.wait_until(lambda: port_answers(port), timeout_seconds=300)
        (some,) = trino.run(f"SELECT id FROM {logs.sql} WHERE word LIKE '%03-111%'").rows
        sql = f"SELECT * FROM {logs.sql} WHERE id = {some[0]}"
        plain, found = trino.run(sql), TrinoClient.at(f"http://127.0.0.1:{port}").run(sql)
        assert (found.rows, found.columns) == (plain.rows, plain.columns)
        assert found.physical_bytes < plain.physical_bytes / 2
        assert "a statement: prune, " in program.said()
        assert str(some[0]) not in program.said()
    finally:
        program.stop()
