"""Files that a run writes into tables are for their readers, all others for the portal alone."""

from dataclasses import replace
from pathlib import Path

from portal.lake.ids import LakeId
from portal.runs.kinds.registry import all_kinds
from portal.spark.launch import private
from tests.component.portal.spark.launched import said_of
from tests.support.lakes import local_lake

UMASK = "spark.hadoop.fs.permissions.umask-mode"
WRITING = {
    "hudi_remove",
    "hudi_resident",
    "hudi_services",
    "optimize",
    "optimizer.cube_drop",
    "optimizer.keep_queries",
    "optimizer.remove",
    "optimizer.trial",
    "optimizer.trial_cleanup",
    "pipelines.layer",
    "pipelines.cdc_apply",
    "pipelines.materialize",
}


def test_what_a_run_writes_is_private_where_that_is_asked_for(tmp_path: Path) -> None:
    lake = local_lake(tmp_path, LakeId("main"))
    own = replace(lake, spark_conf={UMASK: "027"})
    assert said_of(UMASK, lake) == []
    assert said_of(UMASK, private(lake)) == [f"{UMASK}=077"]
    assert said_of(UMASK, own) == said_of(UMASK, private(own)) == [f"{UMASK}=027"], (
        "the lake's own word"
    )


def test_the_runs_that_write_tables_are_known() -> None:
    assert {kind.name for kind in all_kinds() if kind.writes_tables} == WRITING
