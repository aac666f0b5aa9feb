"""Programs that are started, found again and ended: real spark-submit, local master."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from portal.lake.errors import StaleState
from portal.spark.launch import Launched, is_alive, kill
from portal.spark.process_table import host_identity
from tests.support.scan_lake import start_job


def wait_until(condition: Any, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


def processes(launched: Launched) -> dict[str, list[int]]:
    """Return the pids of the group by program name."""
    found: dict[str, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8")
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        if int(fields[2]) == launched.pgid and fields[0] != "Z":
            name = text.partition("(")[2].rpartition(")")[0]
            found.setdefault(name, []).append(int(stat.parent.name))
    return found


def test_what_is_no_job_ends_in_a_failed_manifest(embedded_stack: Any, tmp_path: Path) -> None:
    config = embedded_stack.config("main")
    spool, launched = start_job(config, {}, log_file=tmp_path / "log", module="os.path")
    wait_until(lambda: not is_alive(launched), 180)
    manifest = spool.read_manifest()
    assert manifest is not None
    assert manifest["outcome"] == "failed"
    assert manifest["error"]["code"] == "job.module"
    password = config.metastore_db.password()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
    assert f"PASSWORD={password}" not in (tmp_path / "log").read_text(encoding="utf-8")
    assert is_alive(launched) is False


def test_the_driver_dies_with_its_jvm(embedded_stack: Any, tmp_path: Path) -> None:
    """Client mode: kill -9 of the JVM alone must not leave a Python driver that acts."""
    config = embedded_stack.config("main")
    spool, launched = start_job(config, {}, log_file=tmp_path / "log")
    wait_until(lambda: spool.progress_after(0), 180)
    running = processes(launched)
    (jvm,) = running["java"]
    assert any(name.startswith("python") for name in running)
    os.kill(jvm, signal.SIGKILL)
    wait_until(lambda: not is_alive(launched), 10)
    assert spool.read_manifest() is None


def test_a_reused_number_is_not_ours(embedded_stack: Any) -> None:
    own = os.getpid()
    stranger = Launched(host_identity(), own, pid_started=1.0, pgid=own)
    assert is_alive(stranger) is False
    kill(stranger)
    with pytest.raises(StaleState) as error:
        is_alive(Launched("elsewhere", own, 1.0, own))
    assert error.value.code == "launch.other_host"
