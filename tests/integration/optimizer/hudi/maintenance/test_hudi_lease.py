"""What people approved goes from a Hudi table only under the run's lease, and leaves a record."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.maintenance.jobs import run_services
from optimizer.removals.domain.papers import ACTING, FENCE
from portal.connectors.lake_config import LakeConfig
from portal.safety.fence import LEASE_LENGTH, open_fence
from portal.spark.job import JobContext
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable
from tests.support.hudi_services import LOCK, SHARED, order
from tests.support.removals import beats
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark


def acting(
    spark: SparkSession, config: LakeConfig, task: dict[str, Any], *, lease: timedelta
) -> tuple[JobContext, dict[str, Any]]:
    """Do one order as a run that removes does, with a lease that its launcher made."""
    job = job_for(spark, config, {"tasks": [task], ACTING: True})
    fence = job.spool.root.child(FENCE)
    open_fence(job.spool.fs, fence, lease_until=datetime.now(UTC) + lease)
    if lease != LEASE_LENGTH:
        return job, run_services.run(spark, job)["tasks"][0]
    with beats(job):
        return job, run_services.run(spark, job)["tasks"][0]


def test_without_a_lease_nothing_goes_and_with_it_each_step_is_recorded(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    config, table = embedded_stack.config(LAKE), HudiTable(spark, tmp_path / "leased")
    rows = [(i, f"2026-05-0{1 + i % 2}", f"w{i}", 1) for i in range(4)]
    table.upsert(rows, SHARED)
    task = order(
        table,
        "TTL",
        lock=LOCK,
        partitions=["dt=2026-05-01"],
        settings={"listed_at": datetime.now(UTC).isoformat()},
    )
    job, late = acting(spark, config, task, lease=timedelta(seconds=-1))
    assert (late["outcome"], late["code"]) == ("FAILED", "act.fenced"), late
    assert len(table.rows()) == 4
    fence = Path(job.spool.root.child(FENCE).path)
    assert [one.name for one in fence.iterdir()] == ["lease.json"]

    job, done = acting(spark, config, task, lease=LEASE_LENGTH)
    assert done["outcome"] == "DONE", done
    assert len(table.rows()) == 2
    fence = Path(job.spool.root.child(FENCE).path)
    intent = json.loads((fence / "intent.1.000001.json").read_bytes())
    assert (intent["service"], intent["partitions"]) == ("TTL", ["dt=2026-05-01"])
    told = json.loads((fence / "done.1.000001.json").read_bytes())
    assert told["n_files"] == done["done"][0]["n_files"] > 0
