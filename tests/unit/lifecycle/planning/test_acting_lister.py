"""Small directories are listed by the driver, many files by executors."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.planning.jobs import acting
from lifecycle.planning.jobs.acting import spread_lister
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath


class Executors:
    """Stands for Spark: remembers which paths it was given, and walks none."""

    defaultParallelism = 2

    def __init__(self) -> None:
        self.given: list[str] = []

    def parallelize(self, texts: list[str], _n_slices: int) -> "Executors":
        self.given += texts
        return self

    def map(self, _function: Any) -> "Executors":
        return self

    def collect(self) -> list[tuple[str, Any]]:
        return [(text, []) for text in self.given]


@pytest.fixture
def executors() -> Executors:
    return Executors()


@pytest.fixture
def job(executors: Executors) -> Any:
    config = SimpleNamespace(as_dict=dict, kerberos=None)
    return SimpleNamespace(config=config, spark=SimpleNamespace(sparkContext=executors))


def directories(root: Path, *, n: int, n_files: int) -> list[LakePath]:
    """Make directories with empty files."""
    for number in range(n):
        place = root / f"dt={number}"
        place.mkdir()
        for one in range(n_files):
            (place / f"part-{one}").touch()
    return [LakePath.parse(f"file://{root}/dt={number}") for number in range(n)]


def test_a_batch_of_small_partitions_starts_no_spark_job(
    job: Any, executors: Executors, tmp_path: Path
) -> None:
    paths = directories(tmp_path, n=100, n_files=1)
    found = spread_lister(job, LocalFileSystem())(paths)
    assert [len(found[path]) for path in paths] == [2] * 100
    assert executors.given == []


def test_many_files_are_listed_by_executors(
    job: Any, executors: Executors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting, "_SPREAD_FROM", 30)
    paths = directories(tmp_path, n=10, n_files=3)
    spread_lister(job, LocalFileSystem())(paths)
    assert executors.given == [str(path) for path in paths]


def test_what_is_missing_or_no_directory_is_told_by_the_walk(
    job: Any, executors: Executors, tmp_path: Path
) -> None:
    paths = directories(tmp_path, n=8, n_files=1)
    file, gone = paths[0].child("part-0"), paths[0].child("gone")
    found = spread_lister(job, LocalFileSystem())([*paths, file, gone])
    assert set(found) == {*paths, file}
    assert executors.given == []
