"""The program is killed at any step, and the next one leaves the table as if nothing had been."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.changelogs import Pipeline, change, folded, orders_of
from tests.support.hudi_services import submitted
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
FIRST = [change("c", key, key) for key in range(1, 6)]
SECOND = [
    change("d", 1, 11),
    change("u", 2, 12),
    change("u", 3, 13, values={"qty": "none"}),
    change("c", 6, 14),
]
LATE = [change("u", 1, 10), change("u", 2, 9), change("c", 7, 30)]
WANTED = folded([one for one in (*FIRST, *SECOND, *LATE) if one.version != 13])
_PATIENCE_SECONDS = 180.0


def kept_until(found: Callable[[], bool], log: Path) -> None:
    ends = time.monotonic() + _PATIENCE_SECONDS
    while not found():
        assert time.monotonic() < ends, log.read_text()[-5000:]
        time.sleep(0.01)


def begun(pipeline: Pipeline) -> None:
    """Apply the first batch, and write the second."""
    pipeline.table()
    pipeline.log.write(FIRST)
    pipeline.run()
    pipeline.log.write(SECOND)


def ended_well(pipeline: Pipeline) -> None:
    """Apply what is left, late changes too, and look at the table."""
    pipeline.log.write(LATE)
    pipeline.run(at_once=1)
    report = pipeline.report()
    assert (report.failure, report.n_in_quarantine, report.batches) == (None, 1, "1-3"), report
    assert pipeline.rows() == WANTED


@pytest.mark.parametrize(
    "failpoint",
    [
        "deletes:after",
        pytest.param("quarantine:after", marks=pytest.mark.long),
        pytest.param("tombstones:after", marks=pytest.mark.long),
        pytest.param("upserts:before", marks=pytest.mark.long),
        pytest.param("upserts:after", marks=pytest.mark.long),
    ],
)
def test_a_driver_that_dies_between_two_steps_leaves_nothing_undone(
    pipeline: Pipeline, tmp_path: Path, failpoint: str
) -> None:
    begun(pipeline)
    log = tmp_path / "log"
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    launched = submitted(
        job,
        "pipelines.cdc.applying.jobs.apply",
        config=pipeline.config,
        log_file=log,
        environment={"LW_FAILPOINT": f"{failpoint}:kill", "LW_FAILPOINTS_ENABLED": "1"},
    )
    kept_until(lambda: is_over(launched.pid), log)
    assert job.spool.read_manifest() is None, job.spool.read_manifest()
    ended_well(pipeline)


def test_a_jvm_that_dies_in_a_commit_leaves_nothing_half(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    begun(pipeline)
    timeline = tmp_path / "lake1" / "carts" / ".hoodie" / "timeline"
    before = set(timeline.glob("*.inflight"))
    log = tmp_path / "log"
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    launched = submitted(
        job, "pipelines.cdc.applying.jobs.apply", config=pipeline.config, log_file=log
    )
    try:
        kept_until(lambda: bool(set(timeline.glob("*.inflight")) - before), log)
    finally:
        os.killpg(launched.pgid, signal.SIGKILL)
    ended_well(pipeline)


def is_over(pid: int) -> bool:
    """Whether a process is gone, or waits for nothing but its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
