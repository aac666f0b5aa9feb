"""How often a job says how far it is, and what asking costs."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from portal.spark.spool import Progress, Spool


class Steps:
    """A spool that keeps what was written."""

    def __init__(self) -> None:
        self.steps: list[Progress] = []

    def write_progress(self, step: Progress) -> None:
        self.steps.append(step)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("portal.spark.job.time.monotonic", lambda: now[0])
    return now


def job_with(spool: Any, spark: Any = None) -> JobContext:
    return JobContext("r", 1, None, {}, datetime.now(UTC), spool, spark)  # type: ignore[arg-type]  # the configuration is not used


def test_batches_in_quick_succession_are_told_every_few_seconds(seconds: list[float]) -> None:
    spool = Steps()
    job = job_with(spool)
    for done in range(0, 2_000, 100):
        job.progress("drop", done, 2_000, f"batch {done}")
        seconds[0] += 1
    job.progress("drop", 2_000, 2_000, "the last one")
    job.progress("tidy", 0, 1)
    told = [(step.n, step.phase, step.done) for step in spool.steps]
    assert told == [
        *((1, "drop", 0), (2, "drop", 500), (3, "drop", 1_000), (4, "drop", 1_500)),
        *((5, "drop", 2_000), (6, "tidy", 0)),
    ]


def test_every_step_stands_in_the_output(
    seconds: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    job = job_with(Steps())
    for done in (1, 2, 3):
        job.progress("drop", done, 9)
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        *("drop 1/9", "drop 2/9", "drop 3/9")
    ]


def test_looking_for_steps_asks_for_no_acls(tmp_path: Path) -> None:
    class NamesOnly(LocalFileSystem):
        def children(self, path: LakePath) -> Any:
            raise AssertionError(f"on HDFS each child of {path} is one call more")

    spool = Spool(NamesOnly(), LakePath.parse(f"file://{tmp_path}"))
    job = job_with(spool)
    job.application_id = "application_1_0002"
    job.progress("drop", 1, 2)
    job.progress("drop", 2, 2)
    (last,) = spool.progress_after(1)
    assert (last.n, last.application_id) == (2, "application_1_0002")


def test_a_step_of_an_older_release_is_read(tmp_path: Path) -> None:
    spool = Spool(LocalFileSystem(), LakePath.parse(f"file://{tmp_path}"))
    told = '{"n": 1, "phase": "a", "done": 0, "total": 0, "message": "", "at": ""}'
    (tmp_path / "progress-000001.json").write_text(told)
    assert [one.application_id for one in spool.progress_after(0)] == [""]


def test_the_jvm_is_asked_each_time_and_looked_up_once() -> None:
    class Machine:
        n_lookups, n_asked = 0, 0

        def __getattr__(self, name: str) -> Any:
            if name == "nanoTime":
                return self.ask
            self.n_lookups += 1
            return self

        def ask(self) -> int:
            self.n_asked += 1
            return 0

    machine = Machine()
    job = job_with(None, SimpleNamespace(_jvm=machine))
    for _ in range(3):
        job.check_jvm()
    assert (machine.n_asked, machine.n_lookups) == (3, 3)
