"""The last whole lines that a process wrote are copied to the spool, and no pipe is read."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.spark.masters import driver_output
from portal.spark.masters.driver_output import DriverOutput
from portal.spark.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(LocalFileSystem(), LakePath.parse(f"file:{tmp_path}/spool"))
    made.create()
    return made


@contextmanager
def process(stdout: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits, and writes errors where nobody reads them."""
    argv = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(argv, stdout=stdout, stderr=subprocess.DEVNULL) as made:
        try:
            yield made
        finally:
            made.kill()


def test_what_was_written_is_kept_also_after_the_process_has_gone(
    spool: Spool, tmp_path: Path
) -> None:
    with (tmp_path / "stdout").open("wb", buffering=0) as file:
        with process(file.fileno()) as running:
            output = DriverOutput(running.pid)
            output.copy(spool)
            assert spool.read_output("stdout") == b""
            file.write(b"first\n")
            output.copy(spool)
            assert spool.read_output("stdout") == b"first\n"
            file.write(b"last\n")
        output.copy_last(spool)
    assert spool.read_output("stdout") == b"first\nlast\n"
    assert spool.read_output("stderr") == b""
    mode = Path(spool.root.child("driver-stdout.log").path).stat().st_mode
    assert mode & 0o777 == 0o600


def test_of_much_the_last_whole_lines_are_kept(spool: Spool, tmp_path: Path) -> None:
    lines = [f"line {n}".encode() for n in range(20_000)]
    with (tmp_path / "stdout").open("wb", buffering=0) as file:
        file.write(b"\n".join(lines) + b"\n")
        with process(file.fileno()) as running:
            DriverOutput(running.pid).copy(spool)
    kept = spool.read_output("stdout")
    assert driver_output.KEPT_BYTES - 20 < len(kept) <= driver_output.KEPT_BYTES
    found = kept.splitlines()
    assert found == lines[-len(found) :]


def test_a_pipe_is_left_to_its_reader(spool: Spool) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"for somebody else\n")
    with process(writing) as running:
        DriverOutput(running.pid).copy_last(spool)
    assert os.read(reading, 100) == b"for somebody else\n"
    assert spool.read_output("stdout") == b""
    os.close(reading)
    os.close(writing)


def test_a_file_system_that_fails_changes_nothing_for_the_job(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ExternalFailure("fs.failed", "No.", service="filesystem", retryable=True)

    with (tmp_path / "stdout").open("wb", buffering=0) as file:
        file.write(b"first\n")
        with process(file.fileno()) as running:
            output = DriverOutput(running.pid)
            with monkeypatch.context() as patched:
                patched.setattr(spool, "write_output", refuse)
                output.copy(spool)
            output.copy(spool)
    assert spool.read_output("stdout") == b"first\n"
