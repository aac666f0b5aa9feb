"""A broker of Kafka that the tests of change capture share."""

from collections.abc import Iterator

import pytest

from stack.ledger import Ledger
from stack.servers.kafka import Kafka


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    var = tmp_path_factory.mktemp("kafka")
    server = Kafka(var, ledger=Ledger(var / "stack.json"))
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()
