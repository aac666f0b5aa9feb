"""What the tests on a real Trino share: Spark that writes, and Trino over the same metastore."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from stack.servers.trino import CATALOG, Trino
from stack.stack import Stack
from stack.trino_assets import fetch_trino
from tests.support.iceberg_lake import IcebergLake
from tests.support.report_portal import ReportPortal, receiving
from tests.support.scan_spark import local_session
from tests.support.trino_client import TrinoClient


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session of this process."""
    session = local_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def told() -> Iterator[ReportPortal]:
    """What Trino tells of its queries."""
    with receiving() as portal:
        yield portal


@pytest.fixture(scope="session")
def trino_server(embedded_stack: Stack, told: ReportPortal) -> Iterator[Trino]:
    """Trino 476 over the embedded stack's metastore and local files."""
    fetch_trino()
    server = Trino(
        embedded_stack.var,
        ledger=embedded_stack.ledger,
        metastore_uri=embedded_stack.metastore.uri,
        events={
            "http-event-listener.log-completed": "true",
            "http-event-listener.connect-ingest-uri": told.address,
            "http-event-listener.connect-http-headers": "Authorization:Bearer told-by-trino",
        },
    )
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def trino(trino_server: Trino) -> TrinoClient:
    """A person's connection, with the lake as its catalog."""
    return TrinoClient.at(trino_server.url, catalog=CATALOG)


@pytest.fixture(scope="session")
def lake(embedded_stack: Stack, spark: SparkSession) -> IcebergLake:
    """A database of Iceberg tables that Spark writes and Trino reads."""
    config = embedded_stack.config("main")
    root = config.path(embedded_stack.lake_root).child("trino tables")
    return IcebergLake.make(spark, config, db="shop", root=str(root))
