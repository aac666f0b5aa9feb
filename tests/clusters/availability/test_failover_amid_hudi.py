"""A Hudi table is compacted while the active NameNode dies or freezes; its rows stay."""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.clusters.availability.programs import BREAKS, STOPS
from tests.support.hudi_lake import HudiTable, written
from tests.support.hudi_services import APART, LOCK, QUICK, Services

_WAIT_SECONDS = 60


@pytest.mark.parametrize("how", BREAKS)
def test_a_compaction_loses_no_row(
    available: HaStack, ha: HaHdfs, session: SparkSession, how: str
) -> None:
    table = HudiTable(session, Path(f"/tmp/hudi_{uuid.uuid4().hex[:8]}"), uri="hdfs://lake")
    rows = written(table, 3)
    older = table.rows(only_base_files=True)
    services = Services(session, available.config())
    settings = {**APART, **QUICK, "hoodie.metadata.enable": "false"}
    planned = services.one(table, "COMPACTION", "SCHEDULE", lock=LOCK, properties=settings)
    assert planned["outcome"] == "DONE", planned
    with _amid(table, ha, how):
        outcome = _compacted(services, table, settings)
    ha.recover()
    assert table.rows() == rows
    if outcome != "DONE":
        time.sleep(3)  # the writer that failed is taken for dead after a second
        # A commit whose answer was lost is there, and leaves nothing to do.
        assert _compacted(services, table, settings) in {"DONE", "NOTHING"}
    assert table.rows() == rows
    assert table.rows(only_base_files=True) == rows != older
    assert _compacted(services, table, settings) == "NOTHING"


def _compacted(services: Services, table: HudiTable, settings: dict[str, str]) -> str:
    """Return the outcome of a run; STOPPED where its own spool did not answer."""
    try:
        done = services.one(table, "COMPACTION", properties=settings)
    except ExternalFailure as error:
        if error.code not in STOPS:
            raise
        return "STOPPED"
    return str(done["outcome"])


@contextmanager
def _amid(table: HudiTable, ha: HaHdfs, how: str) -> Iterator[None]:
    """Fail over once a compaction of the table has begun; that this happened is asserted."""
    settings = {**ha.client_properties(), "test.name": uuid.uuid4().hex}
    fs = HdfsFileSystem("lake", user="lakewarden", settings=settings)
    timeline = LakePath("hdfs", "lake", str(table.timeline))
    happened: list[str] = []

    def watch() -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            if any(name.endswith(".compaction.inflight") for name in fs.names(timeline)):
                ha.fail_over(how)
                happened.append(how)
                return
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        watcher.join()
    assert happened == [how], "the compaction ended before it was seen"
