"""The JVM killed alone, the Python driver killed alone: the application ends and nothing is lost.

In client mode the cluster's word does not count, so what is asked is the process group.
"""

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path

import psutil
import pytest

from lifecycle.backup.engine.journal.reading import batch_numbers, batches
from lifecycle.backup.engine.journal.records import IN_BACKUP
from portal.spark.launch import Launched
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_extras import dress, extras_of
from tests.support.act_jobs import SUBMIT_SECONDS, drop_params, restore_params, start, wait_end
from tests.support.act_lake import ActLake

_POINTS = ["rename:after:stop:2", "drop:after:stop"]


def _members(launched: Launched) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["name"]):
        try:
            if os.getpgid(process.pid) == launched.pgid:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def _wait_frozen(launched: Launched, log: Path) -> psutil.Process:
    """Wait until the Python driver has stopped at its failpoint."""
    deadline = time.monotonic() + SUBMIT_SECONDS
    while time.monotonic() < deadline:
        for process in _members(launched):
            # Short-lived ones of spark-submit end while they are looked at.
            with contextlib.suppress(psutil.NoSuchProcess):
                if (
                    process.name().startswith("python")
                    and process.status() == psutil.STATUS_STOPPED
                ):
                    return process
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])


def _jvm(launched: Launched) -> psutil.Process:
    return next(process for process in _members(launched) if process.info["name"] == "java")


@pytest.mark.parametrize("point", _POINTS)
@pytest.mark.parametrize("victim", ["jvm", pytest.param("python", marks=pytest.mark.long)])
def test_half_of_the_application_killed_loses_nothing(
    embedded_stack: Stack, tmp_path: Path, point: str, victim: str
) -> None:
    for lake in make_lake(embedded_stack):
        name = lake.make_table("t", keys=("dt",), values=[("a",), ("b",), ("c",)])
        before = lake.snapshot(name)
        run, log = str(uuid.uuid4()), tmp_path / "drop.log"
        params = drop_params(lake, name, run)
        launched, _ = start(
            lake.config, "lifecycle.drop.jobs", params, run=run, log=log, failpoint=point
        )
        driver = _wait_frozen(launched, log)
        killed = _jvm(launched) if victim == "jvm" else driver
        killed.send_signal(signal.SIGKILL)
        # A frozen driver cannot see its JVM die; the kernel kills it (PR_SET_PDEATHSIG).
        wait_end(launched)
        lake.seal(run, approved=False)
        _restore_all(lake, run)
        assert lake.snapshot(name) == before


def test_a_restore_killed_between_statistics_and_grants_is_finished_by_settle(
    embedded_stack: Stack, tmp_path: Path
) -> None:
    for lake in make_lake(embedded_stack):
        name = lake.make_table("t", keys=("dt",), values=[("a",), ("b",), ("c",)])
        dress(lake, name)
        before, belongs = lake.snapshot(name), extras_of(lake, name)
        run, restore, log = str(uuid.uuid4()), str(uuid.uuid4()), tmp_path / "restore.log"
        lake.drop(name, run=run)
        params = restore_params(lake, run, restore)
        launched, _ = start(
            *(lake.config, "lifecycle.restore.jobs.restore", params),
            run=restore,
            log=log,
            failpoint="extras:send:stop:2",
        )
        driver = _wait_frozen(launched, log)
        half = extras_of(lake, name)
        assert half["partitions"] == belongs["partitions"]
        assert half["grants"] != belongs["grants"]
        driver.send_signal(signal.SIGKILL)
        wait_end(launched)
        assert lake.release(run, restore) == {"RESTORED": 3}
        assert lake.snapshot(name) == before
        assert extras_of(lake, name) == belongs


def _restore_all(lake: ActLake, run: str) -> None:
    sealed = lake.day.sealed(run, 1)
    assert all(batch.done for batch in batches(lake.fs, sealed))
    in_backup = [
        item
        for batch in batches(lake.fs, sealed)
        for item in (batch.done.items if batch.done else ())
        if item.outcome in IN_BACKUP
    ]
    if in_backup:
        assert batch_numbers(lake.fs, sealed)
        assert lake.restore(run).counts["RESTORED"] == len(in_backup)
