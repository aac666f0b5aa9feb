"""What the integration tests share besides the stacks: one Spark session in this process."""

import logging
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from stack.stack import Stack
from tests.support.guarded import Guarded
from tests.support.iceberg_lake import IcebergLake
from tests.support.scan_spark import activate, local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests that call a job in this process.

    PySpark keeps its JVM when a session stops, so a second session would live with the class
    path of the first one: there is one, with everything that any of the tests needs.
    """
    session = local_session()
    # It tells of connections that end with the interpreter, when pytest's streams are closed.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    yield session
    session.stop()


@pytest.fixture(scope="module", autouse=True)
def _shared_session_is_active() -> None:
    """No module begins with a session active that an earlier one made for itself."""
    if shared := SparkSession._instantiatedSession:
        activate(shared)


@pytest.fixture
def iceberg_lake(embedded_stack: Stack, spark: SparkSession) -> IcebergLake:
    """A database of Iceberg tables on the embedded stack's metastore.

    Made again for each test, because a `ScanLake` of an earlier test forgets every database.
    """
    config = embedded_stack.config("main")
    root = config.path(embedded_stack.lake_root).child("iceberg rewrites")
    return IcebergLake.make(spark, config, db="rewrites", root=str(root))


@pytest.fixture
def guarded(embedded_stack: Stack) -> Iterator[Guarded]:
    """The embedded stack's metastore as several people; afterwards its guard is in audit again."""
    guarded = Guarded(embedded_stack)
    yield guarded
    guarded.close()
