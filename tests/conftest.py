"""The running stacks that tests share: one of each form a session, started when first asked."""

from collections.abc import Iterator

import pytest

from stack.stack import Stack
from tests.support.sql import SqlShell


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A metastore on Derby, local files, Redis, an SMTP sink."""
    with Stack.embedded(tmp_path_factory.mktemp("embedded")) as stack:
        yield stack


@pytest.fixture(scope="session")
def full_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A metastore on MariaDB, HDFS, Redis, an SMTP sink, Spark standalone with a worker."""
    with Stack.full(tmp_path_factory.mktemp("full")) as stack:
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
