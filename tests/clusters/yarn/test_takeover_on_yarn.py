"""An old driver on a node that nobody can reach moves and drops nothing once it is replaced."""

import time
from collections.abc import Callable
from datetime import timedelta

import psutil
import pytest
from django.utils import timezone

from lifecycle.backup.models import ActFence
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import HOST_GONE_GRACE, RunState
from portal.runs.execution import cluster_signs
from portal.runs.execution.applications import applications_of
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.runs.requests.selectors import run_events
from stack.servers.yarn import YarnCluster
from tests.clusters.yarn.drop_kind import WAIT_SECONDS, Drop, polled_until, started
from tests.support.act_lake import ActLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


def is_stopped(yarn: YarnCluster) -> bool:
    """Whether a driver of a container has stopped itself at its failpoint."""
    states = []
    for pid in yarn.node.container_pids():
        try:
            states.append(psutil.Process(pid).status())
        except psutil.NoSuchProcess:
            continue
    return psutil.STATUS_STOPPED in states


def waited(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def be_silent(run: Run, seconds: float) -> None:
    """Have the portal believe that it saw the last heartbeat so much earlier."""
    for (pk, _epoch, _part), seen in cluster_signs._seen.items():
        if pk == run.pk:
            seen.at -= seconds


@pytest.mark.parametrize("point", ["rename:before:stop", "drop:before:stop"])
def test_a_driver_on_a_lost_node_that_wakes_after_the_takeover_changes_nothing(
    lake: ActLake, client_mode: LakeConfig, yarn: YarnCluster, point: str
) -> None:
    table = lake.make_table("t", keys=("dt",), values=[("a",), ("b",)])
    before = lake.snapshot(table)
    password = client_mode.metastore_db.password()
    run = started(Drop(lake, table, password=password, failpoint=point))
    try:
        polled_until(run, lambda: is_stopped(yarn))
        assert open_spool(run).read_beat()["driver"] > 0
        run_poll(run, now=timezone.now())
        assert yarn.node.freeze()
        be_silent(run, 30)
        run_poll(run, now=timezone.now())
        assert run.silent_since is not None
        be_silent(run, 60)
        # The node does not answer, so YARN's word that it was killed ends no process there.
        run_poll(run, now=timezone.now() + timedelta(seconds=40))
        assert run.state == RunState.SETTLING
        assert [one.state for one in applications_of(run)] == ["KILLED"]
        old_drivers = yarn.node.container_pids()
        assert old_drivers
        # Nothing is settled beside a driver whose lease may be in date.
        assert run_step(run.pk, holder="w") is RunState.SETTLING
        assert any("has not ended yet" in event.text for event in run_events(run))
        # Only the portal's own clock goes on: the lease that the driver reads is still in date.
        past = timezone.now() - HOST_GONE_GRACE - timedelta(seconds=1)
        ActFence.objects.update(lease_until=past)
        Run.objects.filter(pk=run.pk).update(lease_until=None)
        assert run_step(run.pk, holder="w") is RunState.FAILED
        assert lake.snapshot(table) == before
        assert set(old_drivers) <= set(psutil.pids())
        yarn.node.thaw_containers()
        waited(
            lambda: (
                open_spool(run).read_manifest() is not None
                or not set(old_drivers) & set(yarn.node.container_pids())
            ),
            log_file(run).read_text(),
        )
        # YARN may end the woken driver before it says anything; if it does, it is this.
        manifest = open_spool(run).read_manifest()
        assert manifest is None or manifest["error"]["code"] == "act.fenced"
        assert lake.snapshot(table) == before
    finally:
        yarn.node.thaw()
    waited(lambda: not yarn.node.container_pids(), "containers of the ended run are still there")
    waited(yarn.manager.is_ready, "YARN has its node no more")
    assert lake.snapshot(table) == before
