"""The program that stays, as spark-submit starts it on a cluster, told by files on HDFS."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from portal.lake.errors import NotVisible
from portal.spark.launch import waiting
from portal.spark.spool import Spool
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import order, submitted
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
PLANS = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
SOON_IDLE = {
    "spark.dynamicAllocation.executorIdleTimeout": "2s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "2s",
}
_PATIENCE_SECONDS = 120.0


@contextmanager
def staying(spark: SparkSession, stack: Stack, log: Path) -> Iterator[Spool]:
    """Start it; returns the spool by which it is talked to."""
    config = stack.config(LAKE)
    job = job_for(spark, config, {"stay_seconds": 600})
    on_demand = waiting(replace(config, spark_conf={**config.spark_conf, **SOON_IDLE}))
    launched = submitted(job, "optimizer.hudi.continuous.jobs", config=on_demand, log_file=log)
    try:
        yield job.spool
    finally:
        os.killpg(launched.pgid, signal.SIGKILL)


def until(log: Path, found: Callable[[], Any]) -> Any:
    """Wait until something is there."""
    ends = time.monotonic() + _PATIENCE_SECONDS
    while not (seen := found()):
        assert time.monotonic() < ends, log.read_text()[-5000:]
        time.sleep(0.2)
    return seen


def read(spool: Spool, *name: str) -> Any:
    try:
        return json.loads(spool.fs.read(spool.results.child(*name)))
    except NotVisible:
        return None


def executors(log: Path) -> list[str]:
    """Return the processes that the cluster runs for the application now; they are on this host."""
    (app,) = set(re.findall(r"app-\d+-\d+", log.read_text()))
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            said = place.read_bytes().decode(errors="replace")
            if app in said and "CoarseGrainedExecutorBackend" in said:
                found.append(place.parent.name)
    return found


def test_it_watches_and_serves_on_a_cluster_and_gives_its_cores_back(
    spark: SparkSession, full_stack: Stack, tmp_path: Path
) -> None:
    table, log = HudiTable(spark, tmp_path / "carts"), tmp_path / "log"
    rows: list[Row] = [(i, "2026-05-01", "a", 1) for i in range(4)]
    table.upsert(rows)
    wanted = [(i, dt, "b", 2) for i, dt, _, _ in rows]
    watched = {"table_id": 7, "db": "hudi", "table": "carts", "location": table.location}
    watch = {**watched, "properties": {}, "read_logs": True, "read_keys": False, "due": ""}

    with staying(spark, full_stack, log) as spool:
        spool.write_control({"watch": [watch]})
        until(log, lambda: read(spool, "looks.json"))
        table.upsert(wanted, PLANS)
        # A look between the commit and its plan sees none yet.
        (plan,) = until(log, lambda: read(spool, "looks", "7.json")["look"]["plans"])
        spool.write_control(
            {"watch": [watch], "orders": [{**order(table, "COMPACTION"), "turn": "1-1"}]}
        )
        until(log, lambda: executors(log))
        done = until(log, lambda: read(spool, "tasks", "1-1.json"))
        assert [one["instant"] for one in done["done"]] == [plan["instant"]]
        assert table.rows(only_base_files=True) == wanted
        until(log, lambda: not executors(log))
        spool.write_control({"cancel": True})
        manifest = until(log, spool.read_manifest)

    assert (manifest["outcome"], manifest["error"]["code"]) == ("cancelled", "run.cancelled")
