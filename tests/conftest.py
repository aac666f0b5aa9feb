"""The running stacks that tests share: one of each form a session, started when first asked."""

import gc
from collections.abc import Iterator

import pytest
from django.test import TransactionTestCase

from stack.stack import Stack
from stack.starrocks.spec import Timings
from tests.support.quick_flush import flush_filled
from tests.support.sql import SqlShell

# What tests wait for is short; the metastore, which may be busy, keeps its ten seconds.
_FRONT_ENDS = Timings(rpc_timeout=4.0, heartbeat=0.2, listing_with_a_frozen_one=1.0)


def pytest_collection_finish() -> None:
    """Leave what was imported out of garbage collections, which took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def _quick_flush() -> Iterator[None]:
    """Tests that commit leave an empty database without Django's flush of every table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_filled)
        yield


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A metastore on Derby, local files, Redis, an SMTP sink; front ends when asked for."""
    stack = Stack.embedded(tmp_path_factory.mktemp("embedded"))
    stack.clusters.timings = _FRONT_ENDS
    with stack:
        yield stack


@pytest.fixture(scope="session")
def full_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """MariaDB, HDFS, Redis, an SMTP sink, Spark standalone; front ends when asked for."""
    stack = Stack.full(tmp_path_factory.mktemp("full"))
    stack.clusters.timings = _FRONT_ENDS
    with stack:
        yield stack


@pytest.fixture(scope="session")
def embedded_sql(embedded_stack: Stack) -> Iterator[SqlShell]:
    """A warm Spark SQL shell on the embedded stack's lake."""
    shell = SqlShell(embedded_stack)
    yield shell
    shell.close()


@pytest.fixture(scope="session")
def full_sql(full_stack: Stack) -> Iterator[SqlShell]:
    """A warm Spark SQL shell on the full stack's lake."""
    shell = SqlShell(full_stack)
    yield shell
    shell.close()
