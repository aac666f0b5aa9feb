"""Runs as real applications of YARN, over HDFS and a metastore on MariaDB."""

import os
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore_db import PASSWORD_VARIABLE
from portal.connectors.reach.lake_check import check_lake
from portal.runs.domain import RunState
from portal.runs.execution.applications import applications_of
from portal.runs.execution.takeover import watch
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.runs.requests.services import run_cancel
from stack.servers.yarn import CLOSED, PREEMPTED, YarnCluster
from tests.clusters.yarn.conftest import govern
from tests.clusters.yarn.drop_kind import Drop, ended, polled_until, started
from tests.support.act_lake import ActLake
from tests.support.scan_lake import ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


class Scan(RunKind):
    """Scans the lake, without taking its result in."""

    name = "test.scan"
    title = "Scan"
    job = "lifecycle.inventory.jobs.scan"
    attempts = 1

    def __init__(self, password: str) -> None:
        self.password = password

    def environment(self, run: Run) -> dict[str, str]:
        return {PASSWORD_VARIABLE: self.password}

    def request(self, run: Run) -> dict[str, Any]:
        root = get_lake(run.lake).path("/tmp/scanned")
        return {"template": f"{root}/user/{{owner}}"}


def test_a_scan_runs_in_client_mode(
    client_mode: LakeConfig, settings: Settings, tmp_path: Path
) -> None:
    govern(client_mode, settings, tmp_path)
    lake = ScanLake(client_mode, client_mode.path("/tmp/scanned"))
    place = str(lake.database("sales", owner="alice").child("visits"))
    table = lake.table("sales", "visits", owner="alice", location=place, parameters={})
    lake.data(lake.partition(table, "old", ddl_age=100), age=100)
    run = started(Scan(client_mode.metastore_db.password()))
    assert ended(run) is RunState.DONE, log_file(run).read_text()[-6000:]
    run.refresh_from_db()
    assert run.result is not None
    assert run.result["n_partitions"] == 1
    (application,) = applications_of(run)
    assert (application.state, application.queue) == ("FINISHED", "root.default")
    assert application.id == run.application_id


def test_a_drop_in_cluster_mode_outlives_its_launcher_and_the_launchers_host(
    lake: ActLake, client_mode: LakeConfig, yarn: YarnCluster
) -> None:
    table = lake.make_table("t", keys=("dt",), values=[("a",), ("b",)])
    kind = Drop(lake, table, password=client_mode.metastore_db.password(), failpoint="")
    run = started(kind)
    assert run.pgid is not None
    polled_until(run, lambda: bool(Run.objects.get(pk=run.pk).application_id))
    os.killpg(run.pgid, signal.SIGKILL)
    polled_until(run, lambda: open_spool(run).read_beat() != {})
    assert run.state == RunState.RUNNING
    # Another host takes over from one that is gone: here it is the name that is gone.
    long_ago = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(pk=run.pk).update(host="elsewhere/1/2", lease_until=long_ago)
    assert watch(now=timezone.now()) == 1
    run.refresh_from_db()
    assert (run.state, run.pid) == (RunState.RUNNING, None)
    assert ended(run) is RunState.DONE, log_file(run).read_text()[-6000:]
    assert lake.metastore.partition_names(table) == []
    (application,) = applications_of(run)
    assert (application.queue, run.application_id) == ("root.governance", application.id)
    # What YARN and its node keep of the application knows no secret.
    secret = kind.secrets["LW_SECRET"]
    assert "environment.json" not in lake.fs.names(open_spool(run).root)
    assert yarn.node.files_with(run.tag.encode())
    assert yarn.node.files_with(secret.encode()) == []
    assert secret not in log_file(run).read_text()


def test_queues_are_told_whose_applications_may_lose_their_containers(
    client_mode: LakeConfig,
) -> None:
    queues = {"a": "governance", "b": PREEMPTED, "c": f"root.{PREEMPTED}", "d": "nowhere"}
    found = check_lake(replace(client_mode, spark_queues=queues), acting=queues)
    rows = {row.place: row for row in found if row.system == "Queue"}
    assert all(row.is_reached for row in rows.values())
    assert rows["governance"].advice == ""
    setting = f"yarn.scheduler.capacity.root.{PREEMPTED}.disable_preemption to true"
    assert setting in rows[PREEMPTED].advice
    assert setting in rows[f"root.{PREEMPTED}"].advice
    assert "has no queue 'nowhere'" in rows["nowhere"].advice


def test_a_cancelled_scan_is_killed_on_yarn_by_its_tag(
    cluster_mode: LakeConfig, client_mode: LakeConfig, settings: Settings, tmp_path: Path
) -> None:
    govern(cluster_mode, settings, tmp_path)
    run = started(Scan(client_mode.metastore_db.password()))
    polled_until(run, lambda: bool(Run.objects.get(pk=run.pk).application_id))
    owner = User.objects.create_user("olga")
    run_cancel(run.pk, user=owner, now=timezone.now())
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=timezone.now() - timedelta(minutes=2))
    assert ended(run) is RunState.CANCELLED
    assert [one.state for one in applications_of(run)] == ["KILLED"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"spark.yarn.queue": "nowhere"}, "yarn.queue_unknown"),
        ({"spark.yarn.queue": CLOSED}, "yarn.queue_closed"),
        ({"spark.executor.memory": "9g"}, "yarn.too_large"),
    ],
)
def test_what_yarn_refuses_is_explained(
    client_mode: LakeConfig,
    settings: Settings,
    tmp_path: Path,
    change: dict[str, str],
    code: str,
) -> None:
    own = {**client_mode.spark_conf, **change}
    govern(replace(client_mode, spark_conf=own), settings, tmp_path)
    run = started(Scan(client_mode.metastore_db.password()))
    assert ended(run) is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == code, log_file(run).read_text()[-6000:]
