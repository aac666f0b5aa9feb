"""Whole runs as Spark programs, in whose middle the active NameNode dies or freezes.

A run ends right, or stops and says that the file system did not answer; then it is settled, or run
once more. Either way the data is at its place or in the backup, once, and the metadata says so.
"""

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.fencing import purge_prepare
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.settling import act_settle
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.clusters.availability.programs import BREAKS, ScanStory, ended, midway, started
from tests.faults.move_scene import MoveScene
from tests.faults.scene import Scene
from tests.support.act_jobs import drop_params, restore_params, start
from tests.support.act_lake import ActLake
from tests.support.act_portal import ActPortal, instant
from tests.support.moves import move_params


@pytest.mark.parametrize("how", BREAKS)
def test_a_drop_and_a_restore_lose_nothing(
    available: HaStack, ha: HaHdfs, tmp_path: Path, how: str
) -> None:
    scene = Scene(available.config(), shape="parts", ownership="external")
    config, log = scene.lake.config, tmp_path / "drop.log"
    params = drop_params(scene.lake, scene.name, scene.run)
    job = started(config, "lifecycle.drop.jobs", params, scene.run, log)
    midway(job, lambda: ha.fail_over(how), ha, log)
    scene.settle(approved=True)
    scene.check()
    # What was not moved when the run stopped is for the next plan; the rest is in the backup.
    assert len(scene.lake.metastore.partition_names(scene.name)) < len(scene.before.files)
    params = restore_params(scene.lake, scene.run, scene.restore_run)
    log = tmp_path / "restore.log"
    job = started(config, "lifecycle.restore.jobs.restore", params, scene.restore_run, log)
    midway(job, lambda: ha.fail_over(how), ha, log)
    scene.release(scene.restore_run)
    scene.check()
    scene.check_restored()
    scene.close()


@pytest.mark.parametrize("how", BREAKS)
def test_a_relocation_loses_nothing(
    available: HaStack, ha: HaHdfs, tmp_path: Path, how: str
) -> None:
    scene = MoveScene(ActLake(available.config(), uuid.uuid4().hex[:8]), whole=True)
    params = move_params(scene.lake, scene.name, scene.run, scene.items)
    log = tmp_path / "move.log"
    job = started(scene.lake.config, "lifecycle.relocation.jobs", params, scene.run, log)
    midway(job, lambda: ha.fail_over(how), ha, log)
    scene.settle(approved=True)
    # The data had left its old place: the run goes on, or settling does.
    assert scene.check(may_have_moved=True) == 1
    scene.lake.metastore.close()


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
    manifest = midway(job, lambda: ha.fail_over(how), ha, log) if how else ended(job, ha, log)
    for _ in range(2):
        act_settle(run, now=instant())
        purge_ingest(run, manifest, now=instant())


@pytest.mark.parametrize("how", BREAKS)
def test_a_scan_ends_right_or_says_why_and_is_right_the_next_time(
    available: HaStack, ha: HaHdfs, tmp_path: Path, how: str
) -> None:
    story = ScanStory(available.config(), ha, tmp_path / "scan.log")
    if story.scan(lambda: ha.fail_over(how)) != "done":
        assert story.scan() == "done"
