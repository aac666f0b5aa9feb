"""A journal node dies while a program acts: two of three still take every edit."""

from pathlib import Path

from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.clusters.availability.programs import midway, started
from tests.faults.scene import Scene
from tests.support.act_jobs import drop_params


def test_a_drop_goes_on_without_one_journal_node_and_outlives_its_name_node(
    available: HaStack, ha: HaHdfs, tmp_path: Path
) -> None:
    scene = Scene(available.config(), shape="parts", ownership="external")
    log = tmp_path / "drop.log"
    params = drop_params(scene.lake, scene.name, scene.run)
    job = started(scene.lake.config, "lifecycle.drop.jobs", params, scene.run, log)
    manifest = midway(job, ha.journal.kill, ha, log)
    assert manifest["outcome"] == "done", manifest
    assert manifest["result"]["counts"] == {"DROPPED": 3}
    assert ha.state("nn1") == "active", "its journal was lost"
    scene.settle(approved=True)
    # The one that came back has missed edits; the next NameNode reads all of them nevertheless.
    ha.fail_over("dies")
    scene.check()
    assert scene.lake.metastore.partition_names(scene.name) == []
    scene.check_restored()
    scene.close()
