"""The source that tests of pipelines share: one warm MariaDB, a database for each test."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.ledger import Ledger
from stack.servers.source_db import SourceDb
from tests.support.captured import Shop

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def source_db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceDb]:
    """A server with its binary log on, as a capture wants it."""
    var = tmp_path_factory.mktemp("source")
    server = SourceDb(var, ledger=Ledger(var / "stack.json"))
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture
def shop(source_db: SourceDb, tmp_path: Path) -> Iterator[Shop]:
    """A database of this test alone."""
    number = next(_NUMBERS)
    shop = Shop(source_db, f"shop_{number}", 1000 + number, tmp_path)
    yield shop
    shop.close()
