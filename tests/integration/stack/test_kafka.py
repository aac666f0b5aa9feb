"""A node of Kafka whose cluster's id begins as an option does."""

import uuid
from pathlib import Path

import pytest

from stack.ledger import Ledger
from stack.servers.kafka import Kafka

BEGINS_WITH_A_DASH = uuid.UUID("f8c7d7f7-9fee-4a63-8e96-8df4fbd4e5a0")


def test_a_node_starts_with_a_cluster_id_that_begins_with_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Kafka(tmp_path, ledger=Ledger(tmp_path / "stack.json"))
    with monkeypatch.context() as patched:
        patched.setattr(uuid, "uuid4", lambda: BEGINS_WITH_A_DASH)
        node.start()
    try:
        formatted = (node.directory / "data" / "meta.properties").read_text(encoding="utf-8")
    finally:
        node.stop()
    assert "cluster.id=-M" in formatted
