"""Runs go on while the active ResourceManager dies or freezes, and are never taken for ended."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.execution.applications import applications_of
from portal.runs.records.spools import log_file, open_spool
from portal.spark.masters.resource_manager import ResourceManager
from stack.servers.base import running
from stack.servers.ha_yarn import MANAGERS, HaYarn
from stack.stack import Stack
from tests.clusters.yarn.conftest import govern
from tests.clusters.yarn.drop_kind import ended, polled_until, started
from tests.clusters.yarn.test_runs_on_yarn import Scan

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


@pytest.fixture(scope="module")
def pair(full_stack: Stack) -> Iterator[HaYarn]:
    """Two ResourceManagers and two nodes."""
    assert full_stack.hdfs is not None
    hdfs = full_stack.hdfs.uri
    with running(HaYarn(full_stack.var, ledger=full_stack.ledger, default_fs=hdfs)) as cluster:
        yield cluster


@pytest.fixture
def config(cluster_mode: LakeConfig, pair: HaYarn) -> LakeConfig:
    """The lake with drivers on one of the nodes."""
    pair.wait_both()
    return replace(cluster_mode, hadoop_conf=pair.client_properties())


def test_the_one_that_leads_is_found_whichever_is_named_first(
    config: LakeConfig, pair: HaYarn
) -> None:
    for order in (MANAGERS, MANAGERS[::-1]):
        asked = replace(config, hadoop_conf=pair.client_properties(order=order))
        assert ResourceManager.of(asked).service().ha_state == "ACTIVE"


@pytest.mark.parametrize("how", ["dies", "freezes"])
def test_a_run_goes_on_with_the_other_one(
    config: LakeConfig,
    client_mode: LakeConfig,
    pair: HaYarn,
    settings: Settings,
    tmp_path: Path,
    how: str,
) -> None:
    govern(config, settings, tmp_path)
    run = started(Scan(client_mode.metastore_db.password()))
    polled_until(run, lambda: open_spool(run).read_beat() != {})
    led = pair.leader()
    if how == "dies":
        led.kill()
    else:
        led.freeze()
    try:
        assert ended(run) is RunState.DONE, log_file(run).read_text()[-6000:]
        assert pair.leader() is not led
    finally:
        if how == "dies":
            led.start()
        else:
            led.thaw()
    (application,) = applications_of(run)
    assert application.state == "FINISHED"
    used = [node for node in pair.nodes if any(node.directory.rglob(application.id))]
    assert used == pair.nodes, "the driver is on one node and its executor on the other"
    if how == "dies":
        assert run.events.filter(text__contains="gives no answer").exists()
    pair.wait_both()
    assert pair.leader() is not led
