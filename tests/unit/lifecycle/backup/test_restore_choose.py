"""A restore and its preview look at the places of a batch's items side by side."""

import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.restore_choice import Choice
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    Generation,
    ItemDone,
    ItemIntent,
    Outcome,
    files_of,
)
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.restore.batches import choose
from lifecycle.backup.engine.restore.order import RestoreOrder
from portal.connectors.file_status import FileStatus
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath
from portal.safety.fence import Fence

AT = "2026-11-24T12:00:00+00:00"


class InPairs(LocalFileSystem):
    """Answers what stands at a live place only once it is asked for another one, too."""

    def __init__(self, lake: Path) -> None:
        self.lake = str(lake)
        self.asked: set[LakePath] = set()
        self.of_two = threading.Event()

    def status(self, path: LakePath) -> FileStatus | None:
        if path.path.startswith(self.lake):
            self.asked.add(path)
            if len(self.asked) > 1:
                self.of_two.set()
            assert self.of_two.wait(timeout=5)
        return super().status(path)


def batch_in(root: Path, *, n: int) -> JournalBatch:
    """Lay `n` items into a backup and give their batch."""
    directory = LakePath.parse(f"file://{root}/backup")
    items = []
    for number in range(n):
        home = root / "backup" / f"i{number}"
        home.mkdir(parents=True)
        (home / "part-0").write_text("12345")
        path = LakePath.parse(f"file://{home}")
        files = files_of(list_here(LocalFileSystem())([path])[path], root=path)
        source = f"file://{root}/lake/dt={number}"
        items.append(
            ItemIntent(
                f"i{number}", f"dt={number}", source, Generation(1, 1, source), "", files, ()
            )
        )
    intent = BatchIntent(
        run="r", epoch=1, batch=1, lake="main", db="db", table="t", table_owner="", plan="p",
        digest="d", at=AT, keep_days=15, table_metadata="", items=tuple(items), refused=(),
        table_extras=None,
    )  # fmt: skip
    done = [ItemDone(item.item, item.partition, Outcome.DROPPED) for item in items]
    return JournalBatch(directory, intent, BatchDone("r", 1, 1, AT, "driver", tuple(done)), "")


def test_places_are_looked_at_side_by_side_and_told_in_order(tmp_path: Path) -> None:
    batch = batch_in(tmp_path, n=4)
    (tmp_path / "lake" / "dt=2").mkdir(parents=True)
    (tmp_path / "lake" / "dt=2" / "new").touch()
    fs = InPairs(tmp_path / "lake")
    metastore: Any = SimpleNamespace(table_or_none=lambda _name: None)
    now = datetime.fromisoformat(AT)
    tools = Tools(
        fs=fs,
        metastore=metastore,
        fence=Fence(fs, batch.directory, clock=lambda: now),
        lister=list_here(LocalFileSystem()),
        control=Control,
        clock=lambda: datetime.now(UTC),
    )
    order = RestoreOrder(run="back", epoch=1, lake=LakeId("main"), batches=())
    found = choose(order, batch, tools)
    assert [(one.intent.partition, one.choice) for one in found] == [
        ("dt=0", Choice.RESTORE),
        ("dt=1", Choice.RESTORE),
        ("dt=2", Choice.PLACE_TAKEN),
        ("dt=3", Choice.RESTORE),
    ]
