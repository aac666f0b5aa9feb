"""A backup's directory holds every item of a run: a job lists it once, not once a batch."""

from datetime import timedelta
from pathlib import Path
from typing import cast

from lifecycle.backup.domain.control import Control
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.reading import DirectoryNames, read_batch
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.purge.batches import PurgeBatch, PurgeOrder, PurgeResult, purge_batches
from lifecycle.backup.engine.purge.probes import Probed, probe_batch
from lifecycle.backup.engine.settle.batches import SettleTools
from portal.connectors.local_filesystem import LocalFileSystem
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints
from portal.safety.fence import Fence, open_fence
from tests.support.small_backup import DROPPED_AT, N_BATCHES, NoTables, write_backup

NOW = DROPPED_AT + timedelta(days=30)


class CountedFileSystem(LocalFileSystem):
    """The local file system; counts how often names of each directory are listed."""

    def __init__(self) -> None:
        super().__init__()
        self.listed: dict[str, int] = {}

    def names(self, path: LakePath) -> list[str]:
        self.listed[path.path] = self.listed.get(path.path, 0) + 1
        return super().names(path)


def test_probes_of_many_batches_list_their_directory_once(tmp_path: Path) -> None:
    base = LakePath.parse(f"file://{tmp_path}")
    write_backup(base.child("run"), base.child("live"))
    fs, names = CountedFileSystem(), DirectoryNames()
    tools = SettleTools(fs, cast("Metastore", NoTables()), list_here(fs), NOW, lambda: False)
    for number in range(1, N_BATCHES + 1):
        batch = read_batch(fs, base.child("run"), number)
        (found,) = probe_batch(batch, tools, occupied=lambda _places: {}, names=names)
        assert found.found is Probed.CLEAN
    assert fs.listed[f"{tmp_path}/run"] == 1


def test_a_purge_of_many_batches_does_not_list_their_directory_for_each(tmp_path: Path) -> None:
    base = LakePath.parse(f"file://{tmp_path}")
    fence, fs = base.child("fence"), CountedFileSystem()
    open_fence(fs, fence, lease_until=NOW + timedelta(hours=1))
    claimed = fence.child("run.1")
    write_backup(claimed, base.child("live"))
    wanted = tuple(
        PurgeBatch("b", f"#{number}", claimed, number, sha(fs, claimed, number), DROPPED_AT)
        for number in range(1, N_BATCHES + 1)
    )
    tools = Tools(
        fs=fs,
        metastore=cast("Metastore", NoTables()),
        fence=Fence(fs, fence, clock=lambda: NOW),
        lister=list_here(fs),
        control=Control,
        clock=lambda: NOW,
        fail=Failpoints(),
    )
    fs.listed.clear()
    result = PurgeResult()
    purge_batches(PurgeOrder("p", wanted, lambda _places: {}), tools, result=result)
    assert result.counts == {"PURGED": N_BATCHES}
    assert fs.status(fence.child("run.1.purged")) is not None
    # Before the first batch, and when all are purged: for its items and for its batches.
    assert fs.listed[claimed.path] == 3


def sha(fs: LocalFileSystem, directory: LakePath, number: int) -> str:
    """Return a manifest's checksum."""
    return read_batch(fs, directory, number).sha256
