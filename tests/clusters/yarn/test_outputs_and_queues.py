"""What a driver on YARN wrote is shown however it ended, and a run in a full queue says so."""

import io
import os
import signal
import sys
import tarfile
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from portal.access.models import User
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.execution.applications import applications_of
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.runs.requests.selectors import run_events
from stack.places import spark_home
from stack.servers.yarn import SINGLE, YarnCluster
from tests.clusters.yarn.conftest import govern
from tests.clusters.yarn.drop_kind import ended, polled_until, started
from tests.clusters.yarn.test_runs_on_yarn import Scan
from tests.support.scan_lake import ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


class BrokenScan(Scan):
    """A job that stops on an error that nobody expected: its params name nothing."""

    name = "test.broken_scan"
    job = "lifecycle.drop.jobs"

    def request(self, run: Run) -> dict[str, Any]:
        return {}


def packed_python() -> bytes:
    """A packed environment as venv-pack makes one; its packages are those of this one."""
    interpreter = Path(sys.executable).resolve()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = spark_home().parent
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        link = tarfile.TarInfo("bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, str(interpreter)
        archive.addfile(link)
        for name, text in {
            "pyvenv.cfg": f"home = {interpreter.parent}\nversion = {version}\n",
            f"lib/python{version}/site-packages/packages.pth": f"{packages}\n",
        }.items():
            file = tarfile.TarInfo(name)
            file.size = len(text)
            archive.addfile(file, io.BytesIO(text.encode()))
    return packed.getvalue()


def shown(run: Run) -> str:
    """The page of the driver's log, as the person reads it who asked for the run."""
    client = Client()
    client.force_login(User.objects.get_or_create(username="olga")[0])
    answer = client.get(reverse("ui:run-driver-log", args=[run.pk]))
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_a_driver_with_a_packed_python_is_read_after_its_normal_end(
    cluster_mode: LakeConfig,
    client_mode: LakeConfig,
    yarn: YarnCluster,
    settings: Settings,
    tmp_path: Path,
) -> None:
    archive = client_mode.path("/tmp/python.tar.gz")
    fs = open_file_system(archive, config=client_mode)
    fs.replace(archive, packed_python())
    govern(replace(cluster_mode, spark_python=str(archive)), settings, tmp_path)
    lake = ScanLake(client_mode, client_mode.path("/tmp/scanned"))
    place = str(lake.database("sales", owner="alice").child("visits"))
    lake.table("sales", "visits", owner="alice", location=place, parameters={})
    run = started(Scan(client_mode.metastore_db.password()))
    assert ended(run) is RunState.DONE, log_file(run).read_text()[-6000:]
    (application,) = applications_of(run)
    # Driver and executor alike.
    assert len(yarn.node.launched_with(application.id, "python/pyvenv.cfg")) == 2
    kept = open_spool(run).read_output("stderr")
    assert b"ApplicationMaster" in kept
    page = shown(run)
    assert f"--- stderr of the driver, {application.id}" in page
    assert kept.splitlines()[-1].decode() in page


def test_a_driver_that_failed_says_why_on_its_page(
    cluster_mode: LakeConfig, client_mode: LakeConfig, settings: Settings, tmp_path: Path
) -> None:
    govern(cluster_mode, settings, tmp_path)
    run = started(BrokenScan(client_mode.metastore_db.password()))
    assert ended(run) is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "job.unexpected", log_file(run).read_text()[-6000:]
    page = shown(run)
    assert "Traceback (most recent call last)" in page
    assert "KeyError" in page


def test_a_run_in_a_full_queue_says_so_and_is_ended_and_a_driver_that_died_is_read(
    cluster_mode: LakeConfig,
    client_mode: LakeConfig,
    yarn: YarnCluster,
    settings: Settings,
    tmp_path: Path,
) -> None:
    govern(replace(cluster_mode, spark_queues={"default": SINGLE}), settings, tmp_path)
    password = client_mode.metastore_db.password()
    first = started(Scan(password))
    polled_until(first, lambda: bool(open_spool(first).read_output("stderr")))
    pids = yarn.node.container_pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        second = started(Scan(password))
        polled_until(second, lambda: "Waits" in Run.objects.get(pk=second.pk).message)
        assert second.message == (
            f"Waits in YARN's queue 'root.{SINGLE}' for less than a minute: the queue's share for "
            "drivers (maximum-am-resource-percent) is in use."
        )
        Run.objects.filter(pk=second.pk).update(submitted_at=timezone.now() - Scan.longest)
        assert ended(second) is RunState.FAILED
        second.refresh_from_db()
        assert second.error is not None
        assert second.error["code"] == "spark.queue_wait"
        assert len([one for one in run_events(second) if one.text.startswith("Waits")]) == 1
        assert [one.state for one in applications_of(second)] == ["KILLED"]
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert ended(first) is RunState.FAILED
    (application,) = applications_of(first)
    page = shown(first)
    assert f"--- YARN on {application.id}" in page
    assert f"--- stderr of the driver, {application.id}" in page
