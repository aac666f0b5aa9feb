"""Upkeep gives way: to all else on its machine, and a run that mostly waits to all of a cluster."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from portal.lake.ids import LakeId
from portal.runs.kinds.registry import all_kinds
from portal.spark.launch import (
    NICENESS,
    Launched,
    driver_environment,
    runs_driver_here,
    waiting,
    yield_to_others,
)
from portal.spark.process_table import host_identity
from stack.ledger import MARK
from tests.component.portal.spark.launched import said_of
from tests.support.lakes import local_lake

ON_DEMAND = "spark.dynamicAllocation.enabled"


@pytest.mark.parametrize(("master", "niceness"), [("local[2]", NICENESS), ("yarn", 0)])
def test_with_a_local_master_it_runs_after_all_others(
    tmp_path: Path, master: str, niceness: int
) -> None:
    config = replace(local_lake(tmp_path, LakeId("main")), spark_master=master)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            yield_to_others(Launched(host_identity(), process.pid, 0, process.pid), config)
            found = os.getpriority(os.PRIO_PROCESS, process.pid)
        finally:
            process.kill()
    assert found == (niceness or before)


def test_a_program_that_has_ended_already_is_left_alone(tmp_path: Path) -> None:
    nobody = 1 << 22
    config = local_lake(tmp_path, LakeId("main"))
    yield_to_others(Launched(host_identity(), nobody, 0, nobody), config)


def test_what_mostly_waits_asks_for_executors_as_it_needs_them(tmp_path: Path) -> None:
    lake = local_lake(tmp_path, LakeId("main"))
    own = replace(lake, spark_conf={ON_DEMAND: "false"})
    assert said_of(ON_DEMAND, lake) == []
    assert said_of(ON_DEMAND, waiting(lake)) == [f"{ON_DEMAND}=true"]
    assert said_of(ON_DEMAND, waiting(own)) == [f"{ON_DEMAND}=false"], "the lake's own word"


def test_what_a_demo_starts_can_be_found_again_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, "the demo")
    config = local_lake(tmp_path, LakeId("main"))
    assert driver_environment(config, {})[MARK] == "the demo"


AWAITED = {"pipelines.layer", "pipelines.cdc_apply", "pipelines.materialize"}


def test_the_runs_that_give_way_write_or_analyse_and_nobody_waits_for_them() -> None:
    kinds = all_kinds()
    # People wait for what a source changed.
    upkeep = {one.name for one in kinds if one.writes_tables and one.name not in AWAITED}
    analysing = {"optimizer.top_shapes", "pipelines.cdc_compare", "quality.check", "quality.try"}
    assert {kind.name for kind in kinds if kind.yields} == upkeep | analysing
    assert {kind.name for kind in kinds if kind.stays} == {"hudi_resident", "pipelines.cdc_apply"}


@pytest.mark.parametrize(("mode", "beats"), [(None, True), ("client", True), ("cluster", False)])
def test_only_a_driver_on_this_host_is_listened_for(
    tmp_path: Path, mode: str | None, beats: bool
) -> None:
    conf = {"spark.submit.deployMode": mode} if mode else {}
    config = replace(local_lake(tmp_path, LakeId("main")), spark_master="yarn", spark_conf=conf)
    assert runs_driver_here(config) is beats
