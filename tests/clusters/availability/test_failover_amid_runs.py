"""Whole runs as Spark programs, in whose middle the active NameNode dies or freezes.

A run ends right, or stops and says that the file system did not answer; then it is settled, or run
once more. Either way the data is at its place or in the backup, once, and the metadata says so.
"""

import json
import os
import signal
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.fencing import purge_prepare
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.settling import act_settle
from portal.spark.launch import Launched
from portal.spark.process_table import group_members
from portal.spark.spool import Spool
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.faults.failover import process_state
from tests.faults.scene import Scene
from tests.support.act_jobs import drop_params, restore_params, start, wait_end
from tests.support.act_lake import ActLake
from tests.support.act_portal import ActPortal, instant
from tests.support.scan_lake import ScanLake, ScanRun, start_job

BREAKS = ("dies", "freezes")
_STOPS = {"fs.failed", "fs.unknown", "metastore.unreachable"}
_WAIT_SECONDS = 110.0


@pytest.mark.parametrize("how", BREAKS)
def test_a_drop_and_a_restore_lose_nothing(
    available: HaStack, ha: HaHdfs, tmp_path: Path, how: str
) -> None:
    scene = Scene(available.config(), shape="parts", ownership="external")
    params = drop_params(scene.lake, scene.name, scene.run)
    job = _start(scene.lake, "lifecycle.drop.jobs", params, scene.run, tmp_path / "drop.log")
    _midway(job, ha, how, tmp_path / "drop.log")
    scene.settle(approved=True)
    scene.check()
    # What was not moved when the run stopped is for the next plan; the rest is in the backup.
    assert len(scene.lake.metastore.partition_names(scene.name)) < len(scene.before.files)
    params = restore_params(scene.lake, scene.run, scene.restore_run)
    log = tmp_path / "restore.log"
    job = _start(scene.lake, "lifecycle.restore.jobs.restore", params, scene.restore_run, log)
    _midway(job, ha, how, log)
    scene.release(scene.restore_run)
    scene.check()
    scene.check_restored()
    scene.close()


@pytest.mark.django_db
@pytest.mark.parametrize("how", BREAKS)
def test_a_purge_takes_all_of_a_backup_and_nothing_else(
    available: HaStack, ha: HaHdfs, settings: Settings, tmp_path: Path, how: str
) -> None:
    settings.LAKEWARDEN_LAKES = str(available.lakes_file)
    portal = ActPortal(ActLake(available.config(), uuid.uuid4().hex[:8]))
    lake = portal.lake
    kept = lake.make_table("kept")
    before = lake.snapshot(kept)
    name = lake.make_table("t", keys=("dt",), values=[("a",), ("b c",)])
    portal.drop(name, at=instant() - timedelta(days=20))
    row = BackupBatch.objects.get()
    _purge(portal, row, tmp_path / "first.log", ha, how)
    row.refresh_from_db()
    assert row.state in (BackupState.PURGING, BackupState.PURGED)
    if row.state != BackupState.PURGED:
        _purge(portal, row, tmp_path / "second.log", ha, "")
        row.refresh_from_db()
    assert row.state == BackupState.PURGED
    assert lake.files(lake.config.path(row.path)) == ()
    assert lake.snapshot(kept) == before


def _purge(portal: ActPortal, row: BackupBatch, log: Path, ha: HaHdfs, how: str) -> None:
    run = portal.new_run("purge")
    params = purge_prepare(run, batches=[row], now=instant())
    point = "slice:after:stop" if how else ""
    job = start(
        portal.lake.config,
        "lifecycle.restore.jobs.purge",
        params,
        run=str(run.pk),
        log=log,
        failpoint=point,
    )
    manifest = _midway(job, ha, how, log)
    for _ in range(2):
        act_settle(run, now=instant())
        purge_ingest(run, manifest, now=instant())


@pytest.mark.parametrize("how", BREAKS)
def test_a_scan_ends_right_or_says_why_and_is_right_the_next_time(
    available: HaStack, ha: HaHdfs, tmp_path: Path, how: str
) -> None:
    config = available.config()
    lake = ScanLake(config, config.path(f"/tmp/scan {time.time_ns()}"))
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
    template = {"template": f"{lake.root}/user/{{owner}}"}
    log = tmp_path / "scan.log"
    spool, launched = start_job(config, template, log_file=log)
    deadline = time.monotonic() + _WAIT_SECONDS
    while not spool.progress_after(0):
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.05)
    ha.fail_over(how)
    manifest = _ended((launched, spool), ha, log)
    if manifest["outcome"] != "done":
        spool, launched = start_job(config, template, log_file=log)
        manifest = _ended((launched, spool), ha, log)
        assert manifest["outcome"] == "done", manifest
    rows = {row["part_name"]: row["cls"] for row in ScanRun(spool, manifest).rows("items")}
    assert rows == {"dt=old": "CLEAN_NOW", "dt=fresh": "NOT_NOW", "dt=soon": "SOON"}


def _start(
    lake: ActLake, module: str, params: dict[str, Any], run: str, log: Path
) -> tuple[Launched, Spool]:
    """Start a program that stops right after it has moved its data."""
    return start(lake.config, module, params, run=run, log=log, failpoint="rename:after:stop")


def _midway(job: tuple[Launched, Spool], ha: HaHdfs, how: str, log: Path) -> dict[str, Any]:
    """Fail over where the program has stopped, let it go on, and return how it ended."""
    if how:
        launched, _ = job
        deadline = time.monotonic() + _WAIT_SECONDS
        while not any(process_state(pid) == "T" for pid in group_members(launched.pgid)):
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(0.05)
        try:
            ha.fail_over(how)
        finally:
            os.killpg(launched.pgid, signal.SIGCONT)
    return _ended(job, ha, log)


def _ended(job: tuple[Launched, Spool], ha: HaHdfs, log: Path) -> dict[str, Any]:
    """Wait for the end; a program that failed says that a system did not answer, nothing else."""
    launched, spool = job
    wait_end(launched)
    # Looking and settling are tried again until the file system answers; here they wait for it.
    ha.recover()
    manifest = spool.read_manifest()
    assert manifest is not None, log.read_text()[-4000:]
    if manifest["outcome"] != "done":
        error = manifest["error"]
        assert error["code"] in _STOPS, json.dumps(manifest, indent=1) + log.read_text()[-4000:]
    return dict(manifest)
