"""Spark programs in whose middle something happens to the name service, and how they ended."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from portal.connectors.lake_config import LakeConfig
from portal.spark.launch import Launched
from portal.spark.process_table import group_members
from portal.spark.spool import Spool
from stack.servers.ha_hdfs import HaHdfs
from tests.faults.failover import process_state
from tests.support.act_jobs import start, wait_end
from tests.support.scan_lake import ScanLake, ScanRun, start_job

BREAKS = ("dies", "freezes")
Job = tuple[Launched, Spool]
STOPS = {"fs.failed", "fs.unknown", "metastore.unreachable"}
_WAIT_SECONDS = 110.0


def started(config: LakeConfig, module: str, params: dict[str, Any], run: str, log: Path) -> Job:
    """Start a program that stops right after it has moved its data."""
    return start(config, module, params, run=run, log=log, failpoint="rename:after:stop")


def midway(job: Job, happens: Callable[[], object], ha: HaHdfs, log: Path) -> dict[str, Any]:
    """Let something happen where the program has stopped; returns how the program ended then."""
    launched, _ = job
    deadline = time.monotonic() + _WAIT_SECONDS
    while not any(process_state(pid) == "T" for pid in group_members(launched.pgid)):
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.05)
    try:
        happens()
    finally:
        os.killpg(launched.pgid, signal.SIGCONT)
    return ended(job, ha, log)


def ended(job: Job, ha: HaHdfs, log: Path) -> dict[str, Any]:
    """Wait for the end; a program that failed says that a system did not answer, nothing else."""
    launched, spool = job
    wait_end(launched)
    # Looking and settling are tried again until the file system answers; here they wait for it.
    ha.recover()
    manifest = spool.read_manifest()
    assert manifest is not None, log.read_text()[-4000:]
    if manifest["outcome"] != "done":
        error = manifest["error"]
        assert error["code"] in STOPS, json.dumps(manifest, indent=1) + log.read_text()[-4000:]
    return dict(manifest)


class ScanStory:
    """A table with partitions of three kinds, and scans of it."""

    def __init__(self, config: LakeConfig, ha: HaHdfs, log: Path) -> None:
        self.config, self.ha, self.log = config, ha, log
        self.lake = lake = ScanLake(config, config.path(f"/tmp/scan {time.time_ns()}"))
        sales = lake.database("sales", owner="alice")
        table = lake.table(
            "sales",
            "visits",
            owner="alice",
            location=str(sales.child("visits")),
            parameters={"LEVEL": "1", "TTL": "30"},
        )
        for value, ddl_age, age in [("old", 100, 100), ("fresh", 100, 3), ("soon", 25, 25)]:
            lake.data(lake.partition(table, value, ddl_age=ddl_age), age=age)

    def scan(self, happens: Callable[[], object] | None = None) -> str:
        """Scan, with something that happens once the scan has made progress; returns its outcome.

        A scan that is done has found what there is.
        """
        template = {"template": f"{self.lake.root}/user/{{owner}}"}
        spool, launched = start_job(self.config, template, log_file=self.log)
        if happens is not None:
            deadline = time.monotonic() + _WAIT_SECONDS
            while not spool.progress_after(0):
                assert time.monotonic() < deadline, self.log.read_text()[-4000:]
                time.sleep(0.05)
            happens()
        manifest = ended((launched, spool), self.ha, self.log)
        if manifest["outcome"] == "done":
            rows = ScanRun(spool, manifest).rows("items")
            found = {row["part_name"]: row["cls"] for row in rows}
            assert found == {"dt=old": "CLEAN_NOW", "dt=fresh": "NOT_NOW", "dt=soon": "SOON"}
        return str(manifest["outcome"])
