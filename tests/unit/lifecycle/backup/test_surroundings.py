"""Nothing is moved by a metastore that answers from a cache, or where clocks differ."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from types import SimpleNamespace

import pytest

from lifecycle.backup.engine.surroundings import check_surroundings
from portal.connectors.file_status import FileStatus
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

PLAIN = "org.apache.hadoop.hive.metastore.ObjectStore"
CACHED = "org.apache.hadoop.hive.metastore.cache.CachedStore"


@dataclass
class Told:
    """A metastore that says what it is told to."""

    store: str = PLAIN
    ahead: Sequence[float] = (0.0,)

    def config_value(self, name: str) -> str:
        assert name == "metastore.rawstore.impl"
        return self.store

    def current_notification_id(self) -> int:
        return 9 if self.ahead else 0

    def notifications_after(self, event_id: int, limit: int) -> list[SimpleNamespace]:
        assert (event_id, limit) == (8, 1)
        return [SimpleNamespace(eventTime=int(time() + seconds)) for seconds in self.ahead]


class Skewed(LocalFileSystem):
    """Local files whose clock is another one."""

    seconds = 0

    def status(self, path: LakePath) -> FileStatus | None:
        found = super().status(path)
        return found and replace(found, mtime_ms=found.mtime_ms + self.seconds * 1000)


def check(metastore: Told, root: Path, *, seconds: int = 0) -> None:
    fs = Skewed()
    fs.seconds = seconds
    check_surroundings(metastore, fs, LakePath.parse(str(root)), tag="run")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "metastore", [Told(), Told(ahead=()), Told(ahead=(-86_400.0,)), Told(store="")]
)
def test_exact_services_of_one_time_are_acted_on(metastore: Told, tmp_path: Path) -> None:
    for seconds in (0, 50, -50):
        check(metastore, tmp_path, seconds=seconds)
        check(metastore, tmp_path, seconds=seconds)


@pytest.mark.parametrize(
    ("metastore", "seconds", "code"),
    [
        (Told(store=CACHED), 0, "act.cached_metastore"),
        (Told(ahead=(90.0,)), 0, "act.clocks"),
        (Told(), 90, "act.clocks"),
        (Told(), -90, "act.clocks"),
    ],
)
def test_a_cache_or_another_clock_stops_the_run(
    metastore: Told, seconds: int, code: str, tmp_path: Path
) -> None:
    with pytest.raises(StaleState) as caught:
        check(metastore, tmp_path, seconds=seconds)
    assert caught.value.code == code


def test_a_probe_that_a_dead_run_left_is_no_clock(tmp_path: Path) -> None:
    (tmp_path / ".clock-run").mkdir()

    os.utime(tmp_path / ".clock-run", (1, 1))
    check(Told(), tmp_path)
