"""A changelog of files keeps every promise of the port, and shuts out whoever slept too long."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.paths import LakePath
from tests.support.changelog_cases import CASES, Open, change, header


@pytest.fixture
def open_log(tmp_path: Path) -> Open:
    root = LakePath.parse(str(tmp_path / "a log"))
    return lambda: DirectoryLog(LocalFileSystem(), root)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_directory_keeps_the_promise(case: Callable[[Open], None], open_log: Open) -> None:
    case(open_log)


def test_a_writer_whose_number_was_written_and_trimmed_is_shut_out(open_log: Open) -> None:
    sleeper, successor = open_log(), open_log()
    for number in range(1, 9):
        successor.append(number, header(), [])
    successor.trim(7)
    with pytest.raises(StaleState) as lost:
        sleeper.append(3, header(), [])
    assert lost.value.code == "cdc.fenced"


def test_a_stray_batch_of_a_writer_that_died_is_not_read(open_log: Open, tmp_path: Path) -> None:
    log = open_log()
    for number in range(1, 9):
        log.append(number, header(), [])
    log.trim(7)
    folder = tmp_path / "a log" / "batches"
    (folder / f"{3:020}.jsonl").write_bytes((folder / f"{7:020}.jsonl").read_bytes())
    (folder / ".half written").write_bytes(b"x")
    assert log.end() == (8, header())
    assert [batch.number for batch in log.read(6)] == [7, 8]
    with pytest.raises(StaleState, match="first that is there is 7"):
        list(log.read(0))
    log.trim(8)
    assert sorted(path.name for path in folder.glob("*.jsonl")) == [f"{8:020}.jsonl"]


def test_a_batch_that_lost_lines_is_refused(open_log: Open, tmp_path: Path) -> None:
    log = open_log()
    log.append(1, header(2), [change(1), change(2)])
    path = tmp_path / "a log" / "batches" / f"{1:020}.jsonl"
    path.write_bytes(path.read_bytes().rstrip().rpartition(b"\n")[0])
    with pytest.raises(RuleViolation, match="1 of 2"):
        list(log.read(0))
    with pytest.raises(RuleViolation, match="says 3"):
        log.append(2, header(3), [])
