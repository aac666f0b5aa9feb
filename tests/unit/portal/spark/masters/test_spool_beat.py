"""The heartbeat of a driver on a cluster ends before its process does."""

import threading
from collections.abc import Mapping
from pathlib import Path

from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath
from portal.spark.masters.driver_output import DriverOutput
from portal.spark.masters.spool_beat import SpoolBeat
from portal.spark.spool import Spool


class SlowSpool(Spool):
    """A spool whose file system answers only when it is let."""

    begun, let = threading.Event(), threading.Event()
    n_written = 0

    def write_beat(self, counts: Mapping[str, int | None]) -> None:
        self.begun.set()
        assert self.let.wait(10)
        self.n_written += 1


def test_a_beat_on_its_way_is_waited_for_and_none_follows(tmp_path: Path) -> None:
    spool = SlowSpool(LocalFileSystem(), LakePath.parse(f"file:{tmp_path}"))
    no_process = 0
    beat = SpoolBeat(spool, DriverOutput(no_process), seconds=0.01)
    assert spool.begun.wait(10)
    closing = threading.Thread(target=beat.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive(), "it waits for the beat"
    spool.let.set()
    closing.join(10)
    assert not closing.is_alive()
    assert spool.n_written == 1
    beat.close()
    assert not [one for one in beat._threads if one.is_alive()]
