"""What a portal that may not do everything says before a purge and after a restore."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from lifecycle.backup.domain.control import Control
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.records import FileFact, Generation, ItemIntent
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.purge.deletable import undeletable
from lifecycle.backup.engine.restore.parent_owners import kept_directories
from portal.connectors.file_status import REFUSED, FileStatus
from portal.connectors.local_filesystem import LocalFileSystem
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints
from portal.safety.fence import Fence

NOW = datetime(2026, 11, 29, tzinfo=UTC)
BACKUP = LakePath.parse("hdfs://lake:8020/backup/run.1")


class Hdfs(LocalFileSystem):
    """A file system on which some directories belong to others; counts the times that were set."""

    def __init__(self, closed: str = "", *, code: str = REFUSED) -> None:
        super().__init__()
        self.closed, self.code = closed, code
        self.set: list[tuple[str, int]] = []

    def status(self, path: LakePath) -> FileStatus | None:
        return FileStatus(path, True, 0, 5, None, "steward", "analysts", 0o750, ())

    def set_modified(self, path: LakePath, mtime_ms: int) -> None:
        if path.name == self.closed:
            raise ExternalFailure(
                self.code, "Give steward the right", service="filesystem", retryable=False
            )
        self.set.append((path.name, mtime_ms))


def _fact(path: str, *, is_dir: bool = True, owner: str = "etl") -> FileFact:
    return FileFact(path, is_dir, 0, 7, owner, "analysts", 0o750)


ITEM = ItemIntent(
    item="item-1",
    partition="dt=a",
    source="hdfs://lake:8020/db/t/dt=a",
    generation=Generation(1, 1, "hdfs://lake:8020/db/t/dt=a"),
    metadata="{}",
    files=(_fact(""), _fact("part-0", is_dir=False), _fact("nested")),
    parents=(_fact("hdfs://lake:8020/db"), _fact("hdfs://lake:8020/db/t")),
)


def _tools(fs: LocalFileSystem) -> Tools:
    return Tools(
        fs=fs,
        metastore=cast("Metastore", None),
        fence=Fence(fs, BACKUP, clock=lambda: NOW),
        lister=list_here(fs),
        control=Control,
        clock=lambda: NOW,
        fail=Failpoints(),
    )


def test_each_directory_is_asked_for_by_the_time_that_it_has() -> None:
    fs = Hdfs()
    assert undeletable(BACKUP, [ITEM], _tools(fs)) is None
    assert fs.set == [("item-1", 7), ("nested", 7)]


def test_a_directory_of_others_is_named_and_a_lost_answer_decides_nothing() -> None:
    said = undeletable(BACKUP, [ITEM], _tools(Hdfs("nested")))
    assert said == "its files may not be deleted: Give steward the right"
    with pytest.raises(ExternalFailure):
        undeletable(BACKUP, [ITEM], _tools(Hdfs("nested", code="fs.failed")))


def test_local_directories_are_not_asked_for(tmp_path: Path) -> None:
    fs = Hdfs("item-1")
    assert undeletable(LakePath.parse(f"file://{tmp_path}"), [ITEM], _tools(fs)) is None
    assert fs.set == []


def test_a_directory_that_the_portal_keeps_is_told_with_the_command() -> None:
    said = kept_directories(Hdfs(), BACKUP, [ITEM], location=None)
    assert said == {
        "item-1": "hdfs://lake:8020/db was missing and belongs to steward now, since only a "
        "superuser may give it back: run `hdfs dfs -chown etl:analysts 'hdfs://lake:8020/db'`"
    }


class Broken(Hdfs):
    """Does not answer for some places."""

    def __init__(self, *places: str) -> None:
        super().__init__()
        self.places = places

    def status(self, path: LakePath) -> FileStatus | None:
        if path.path in self.places:
            raise ExternalFailure("fs.failed", "No answer", service="filesystem", retryable=True)
        return super().status(path)


def test_a_directory_that_gives_no_answer_is_told_and_ends_nothing() -> None:
    other = replace(ITEM, item="item-2", parents=(_fact("hdfs://lake:8020/new"),))
    said = kept_directories(Broken("/db"), BACKUP, [ITEM, other], location=None)
    assert said["item-1"] == (
        "hdfs://lake:8020/db may have been missing and belong to the portal's account now (No "
        "answer): if it does, run `hdfs dfs -chown etl:analysts 'hdfs://lake:8020/db'`"
    )
    assert said["item-2"].startswith("hdfs://lake:8020/new was missing")


def test_without_the_portals_account_every_directory_is_told() -> None:
    said = kept_directories(Broken(BACKUP.path), BACKUP, [ITEM], location=None)
    assert said["item-1"].startswith("hdfs://lake:8020/db may have been missing")


def test_a_directory_that_was_the_portals_before_is_not_told() -> None:
    own = replace(ITEM, parents=(_fact("hdfs://lake:8020/db", owner="steward"),))
    assert kept_directories(Hdfs(), BACKUP, [own], location=None) == {}
