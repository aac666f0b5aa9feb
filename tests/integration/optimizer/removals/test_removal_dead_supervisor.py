"""A removal in a real application stops within ten seconds once nobody renews its lease.

An emergency stop reaches an application only through the supervisor. Where that is dead nobody can
pass the stop on, so the missing renewal itself stops the removal.
"""

import os
import signal
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from optimizer.removals.domain.papers import FENCE
from portal.safety.fence import LEASE_LENGTH, write_lease
from portal.spark.launch import ROOT
from stack.stack import LAKE, Stack
from tests.support.hudi_services import submitted
from tests.support.iceberg_lake import IcebergLake, small_files
from tests.support.removals import Removals, abandon, planted
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
N_FILES = 600
STOPPED_WITHIN = 10.0
PATIENCE_SECONDS = 120.0
# Loaded by the interpreter at its start; each move takes as long as on a busy file system.
SLOW_MOVES = """
import time
import portal.safety.fence as fence
move = fence.Fence.move
def slow(*args, **named):
    time.sleep(0.05)
    return move(*args, **named)
fence.Fence.move = slow
"""


def test_it_moves_nothing_later_than_ten_seconds_after_the_last_renewal(
    iceberg_lake: IcebergLake, embedded_stack: Stack, tmp_path: Path
) -> None:
    lake, log, slow = iceberg_lake, tmp_path / "log", tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(SLOW_MOVES)
    table = small_files(lake.table(by=""), 1)
    planted(table, *(f"data/x{n}.parquet" for n in range(N_FILES)))
    work = Removals(lake, table, kind="ORPHANS", now=datetime.now(UTC))
    told = work.draw_up()["proposal"]
    asked = {"expire_days": 7, "keep_snapshots": 1, "orphan_days": 3, "quarantine_days": 7}
    approved = {"plan": "p", "uri": told["uri"], "digest": told["digest"]}
    order = lake.task(
        table,
        kind="ORPHANS",
        removal={**asked, "quarantine": str(work.aside), "approved": approved},
    )
    job = job_for(lake.spark, lake.config, {"tasks": [order]}, now=datetime.now(UTC))
    work.launched(job)
    launched = submitted(
        job,
        "optimizer.iceberg.execution.jobs.optimize",
        config=embedded_stack.config(LAKE),
        log_file=log,
        environment={"PYTHONPATH": f"{slow}:{ROOT}"},
    )
    aside = Path(work.aside.path)
    try:
        ends = time.monotonic() + PATIENCE_SECONDS
        while len(list(aside.iterdir())) < 20:
            assert time.monotonic() < ends, log.read_text()[-3000:]
            until = datetime.now(UTC) + LEASE_LENGTH
            write_lease(job.spool.fs, job.spool.root.child(FENCE), until=until)
            last_beat = until.timestamp() - LEASE_LENGTH.total_seconds()
            time.sleep(0.2)
        time.sleep(STOPPED_WITHIN + 2)
        moved = _moved(aside)
        assert last_beat + 1 < max(moved) < last_beat + STOPPED_WITHIN
        assert job.spool.read_manifest() is None, "it waits for a supervisor that is only slow"
        abandon(job)
        while (manifest := job.spool.read_manifest()) is None:
            assert time.monotonic() < ends, log.read_text()[-3000:]
            time.sleep(0.2)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(launched.pgid, signal.SIGKILL)
    assert _moved(aside) == moved
    assert len(moved) < N_FILES
    (result,) = manifest["result"]["results"]
    assert (result["outcome"], result["code"]) == ("PARTIAL", "act.fenced"), result
    assert result["removed"]["n_files"] == len(moved)


def _moved(aside: Path) -> list[float]:
    """Return when each file was moved aside."""
    return sorted(one.stat().st_ctime for one in aside.glob("f*"))
