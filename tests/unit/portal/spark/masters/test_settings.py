"""What spark-submit is told for YARN and for Kubernetes, word for word.

The golden files are the whole command line. tests/clusters submits by such lines to a real YARN,
whose nodes run the drivers, and to a real API server of Kubernetes, which has no nodes.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from portal.spark import launch
from portal.spark.masters.settings import for_kind, is_deployed, queue_of
from tests.support.lakes import local_lake

UPLOADS = "hdfs://lake/lakewarden/spool/1/1/upload"
GOLDEN = Path(__file__).parent / "golden"
_QUEUES = {"default": "etl", "lifecycle.drop": "governance"}
_PACKED = "hdfs://lake/lakewarden/python.tar.gz"
_MASTERS = {
    "yarn-client": ("yarn", {}),
    "yarn-cluster": ("yarn", {"spark.submit.deployMode": "cluster"}),
    "kubernetes": (
        "k8s://https://kube.example.org:6443",
        {
            "spark.kubernetes.container.image": "registry.example.org/spark-py:3.5",
            "spark.kubernetes.namespace": "lake",
            "spark.kubernetes.authenticate.driver.serviceAccountName": "lakewarden",
        },
    ),
}


def lake_of(tmp_path: Path, name: str, *, packed: bool = True) -> LakeConfig:
    master, conf = _MASTERS[name]
    return replace(
        local_lake(tmp_path, LakeId("main")),
        default_fs="hdfs://lake",
        spool="hdfs://lake/lakewarden/spool",
        hadoop_user="lakewarden",
        spark_master=master,
        spark_conf=dict(conf),
        spark_queues=dict(_QUEUES),
        spark_python=_PACKED if packed else "",
    )


def command(config: LakeConfig, tmp_path: Path) -> str:
    argv = launch.submit_argv(
        module="lifecycle.drop.jobs",
        tag="lw-1-1",
        spool="hdfs://lake/lakewarden/spool/1/1",
        config=config,
        log_file=tmp_path / "1-1.log",
    )
    text = "\n".join(argv[1:]).replace("\n--", "\n\n--").replace(str(launch.ROOT), "ROOT")
    return text.replace(str(tmp_path), "RUNS").replace(sys.executable, "PYTHON") + "\n"


@pytest.mark.parametrize("name", sorted(_MASTERS))
def test_the_command_line_is_this(tmp_path: Path, name: str) -> None:
    config = for_kind(lake_of(tmp_path, name), "lifecycle.drop", tag="lw-1-1", uploads=UPLOADS)
    golden = GOLDEN / f"{name}.txt"
    assert command(config, tmp_path) == golden.read_text(encoding="utf-8")


def test_an_environment_that_is_there_already_is_used_by_its_path(tmp_path: Path) -> None:
    config = for_kind(
        lake_of(tmp_path, "yarn-cluster", packed=False), "x", tag="t", uploads=UPLOADS
    )
    assert config.spark_conf["spark.pyspark.python"] == sys.executable
    assert not [name for name in config.spark_conf if "archives" in name]


def test_each_kind_has_its_queue_and_all_others_one(tmp_path: Path) -> None:
    config = lake_of(tmp_path, "yarn-client")
    assert queue_of(config, "lifecycle.drop") == "governance"
    assert queue_of(config, "lifecycle.scan") == "etl"
    assert queue_of(replace(config, spark_queues={}), "lifecycle.scan") == ""


def test_the_lake_s_own_settings_hold_but_for_the_driver_s_environment(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, "yarn-cluster")
    named = "spark.yarn.appMasterEnv.HADOOP_USER_NAME"
    own = {**lake.spark_conf, "spark.yarn.queue": "own", named: "somebody"}
    found = for_kind(
        replace(lake, spark_conf=own), "lifecycle.drop", tag="t", uploads=UPLOADS
    ).spark_conf
    assert (found["spark.yarn.queue"], found[named]) == ("own", "lakewarden")


@pytest.mark.parametrize(
    ("name", "is_there"), [("yarn-client", False), ("yarn-cluster", True), ("kubernetes", True)]
)
def test_where_drivers_are_is_known_before_and_after(
    tmp_path: Path, name: str, is_there: bool
) -> None:
    lake = lake_of(tmp_path, name)
    config = for_kind(lake, "x", tag="t", uploads=UPLOADS)
    assert is_deployed(lake) is is_deployed(config) is is_there
    assert launch.runs_driver_here(config) is not is_there


def test_other_masters_get_nothing(tmp_path: Path) -> None:
    lake = local_lake(tmp_path, LakeId("main"))
    assert for_kind(lake, "x", tag="t", uploads=UPLOADS) is lake
