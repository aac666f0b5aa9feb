"""Failover controllers decide over a ZooKeeper which NameNode is active; nobody else says it."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.lake.errors import ExternalFailure
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.clusters.availability.conftest import Place
from tests.clusters.availability.programs import ScanStory


def test_a_scan_goes_on_when_the_active_name_node_dies(
    available: HaStack, ha: HaHdfs, tmp_path: Path
) -> None:
    story = ScanStory(available.config(), ha, tmp_path / "scan.log")
    with ha.controlled():
        assert story.scan(lambda: ha.kill("nn1")) == "done"
        assert ha.state("nn2") == "active"


def test_a_frozen_name_node_loses_its_turn_and_never_writes_again(ha: HaHdfs, place: Place) -> None:
    settings = {**ha.client_properties(), "ipc.client.rpc-timeout.ms": "4000"}
    fs = HdfsFileSystem("lake", user="lakewarden", settings=settings)
    assert fs.names(place.base) == ["source"]
    with ha.controlled():
        ha.freeze("nn1")
        _wait(lambda: ha.state("nn2") == "active")
        with suppress(ExternalFailure):
            fs.names(place.base)  # may have asked the frozen one
        fs.rename(place.source, place.target)
        ha.resume("nn1")
        _wait(lambda: ha.state("nn1") != "active")
        assert ha.state("nn2") == "active"
        assert fs.names(place.base) == ["target"]


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
