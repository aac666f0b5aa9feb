"""Catalogs and tables of other kinds: the indexed catalog's rows are the plain one's everywhere."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.mariadb import PASSWORD, USER
from stack.servers.spark import SparkMaster, SparkWorker
from stack.stack import Stack
from tests.integration.optimizer.indexes.test_indexed_changes import ALL, KINDS, check, made
from tests.support.indexed_tables import IndexedTables


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    return IndexedTables.under(spark, tmp_path_factory.mktemp("reach"))


@pytest.mark.long
def test_stripes_of_orc_without_a_matching_row_are_not_read(lake: IndexedTables) -> None:
    name = "reach.orc"
    lake.sql(
        "CREATE TABLE {t} (id INT, word STRING) USING iceberg TBLPROPERTIES "
        "('write.format.default' = 'orc', 'write.orc.stripe-size-bytes' = '4096', "
        "'read.split.open-file-cost' = '134217728')",
        table=name,
    )
    lake.spark.range(0, 30_000, 1, 1).selectExpr(
        "CAST(id AS INT) AS id", "concat('w', id DIV 5000, sha2(CAST(id AS STRING), 256)) AS word"
    ).writeTo(f"plain.{name}").append()
    table = lake.table(name)
    (entry,) = table.entries()
    stripes = len(entry.split_offsets)
    assert stripes >= 3
    table.index({"id": ["bitmap sliced"]})
    before, now = lake.same(ALL, table=name, where="id IN (7, 29000)")
    assert (before, now) == (stripes, 2)
    assert lake.report().groupsDropped() == stripes - 2
    lake.sql("DELETE FROM {t} WHERE id = 7", table=name, catalog="indexed")
    check(table, "id IN (7, 29000)", "id = 7", "id BETWEEN 9000 AND 9001")
    lake.same("SELECT _pos, id FROM {t} WHERE id = 29000", table=name)


class Handler(BaseHTTPRequestHandler):
    """The reading half of Iceberg's REST catalog, over tables that lie in a folder."""

    root: Path

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")[1:]
        match parts:
            case ["config"]:
                self._say({"defaults": {}, "overrides": {}})
            case ["namespaces"]:
                self._say({"namespaces": [["reach"]]})
            case ["namespaces", "reach"]:
                self._say({"namespace": ["reach"], "properties": {}})
            case ["namespaces", "reach", "tables", name] if (self.root / "reach" / name).exists():
                self._table(self.root / "reach" / name / "metadata")
            case _:
                error = {"message": self.path, "type": "NoSuchTableException", "code": 404}
                self._say({"error": error}, status=404)

    def do_POST(self) -> None:
        """Take metrics, which every reader sends."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def _table(self, folder: Path) -> None:
        version = (folder / "version-hint.text").read_text(encoding="utf-8")
        path = folder / f"v{version}.metadata.json"
        metadata = json.loads(path.read_text(encoding="utf-8"))
        self._say({"metadata-location": f"file:{path}", "metadata": metadata, "config": {}})

    def _say(self, body: Any, *, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def rest_uri(lake: IndexedTables) -> Iterator[str]:
    """A server of the REST catalog's reads on loopback."""
    handler = type("Rooted", (Handler,), {"root": lake.root})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.long
def test_tables_of_a_rest_catalog_are_read_with_their_indexes(
    lake: IndexedTables, rest_uri: str
) -> None:
    table = made(lake, "reach.rest").index(KINDS)
    lake.sql("DELETE FROM {t} WHERE id = 5", table=table.name)
    session = lake.spark.newSession()
    for name, implementation in (
        ("rest_plain", "org.apache.iceberg.spark.SparkCatalog"),
        ("rest_indexed", "lakewarden.indexes.IndexedSparkCatalog"),
    ):
        settings = {
            "": implementation,
            ".type": "rest",
            ".uri": rest_uri,
            ".io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        }
        for key, value in settings.items():
            session.conf.set(f"spark.sql.catalog.{name}{key}", value)
    # The file that the deletion wrote has no index yet.
    for where, most in (("id = 15", 2), ("id = 5", 2), ("word LIKE '%w4%'", 4)):
        plain, indexed = (
            session.table(f"{name}.reach.rest").where(where)
            for name in ("rest_plain", "rest_indexed")
        )
        assert sorted(plain.collect()) == sorted(indexed.collect())
        assert indexed.rdd.getNumPartitions() <= most


@pytest.mark.long
def test_version_3_and_a_jdbc_catalog_from_a_standalone_cluster_with_icebergs_extension(
    full_stack: Stack, tmp_path: Path
) -> None:
    """Executors that know nothing of indexes; the catalog's tables and views lie in MariaDB."""
    database = full_stack.mariadb
    assert database is not None
    with database.connect() as link:
        link.cursor().execute("create or replace database iceberg_catalog character set latin1")
    uri = f"jdbc:mariadb://{LOOPBACK}:{database.port}/iceberg_catalog"
    uri += f"?user={USER}&password={PASSWORD}"
    ledger = Ledger(tmp_path / "ledger.json")
    with ExitStack() as servers:
        master = SparkMaster(tmp_path, ledger=ledger)
        master.start()
        servers.callback(master.stop)
        worker = SparkWorker(tmp_path, ledger=ledger, master=master.url)
        worker.start()
        servers.callback(worker.stop)
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.cluster_indexes", master.url, str(tmp_path), uri],
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "all equal" in done.stdout
