"""A metastore on MariaDB, an HDFS and a YARN over it, as one lake of the portal."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from portal.connectors.lake_config import LakeConfig
from stack.servers.base import running
from stack.servers.yarn import YarnCluster, yarn_settings
from stack.stack import Stack
from tests.clusters.yarn.drop_kind import Drop
from tests.support.act_lake import ActLake


@pytest.fixture(scope="package")
def yarn(full_stack: Stack) -> Iterator[YarnCluster]:
    """A running YARN; the standalone Spark beside it ends, for its memory."""
    assert full_stack.hdfs is not None
    for server in (full_stack.spark_worker, full_stack.spark_master):
        assert server is not None
        server.stop()
    hdfs = full_stack.hdfs.uri
    with running(YarnCluster(full_stack.var, ledger=full_stack.ledger, default_fs=hdfs)) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def client_mode(full_stack: Stack, yarn: YarnCluster) -> LakeConfig:
    """The lake with drivers on this host."""
    config = full_stack.config("main")
    return replace(
        config,
        spark_master="yarn",
        spark_conf=yarn_settings(config.spark_conf, mode="client"),
        spark_jars=tuple(f"local:{jar}" for jar in config.spark_jars),
        hadoop_conf=yarn.client_properties,
        spark_queues={"default": "default"},
    )


@pytest.fixture(scope="package")
def cluster_mode(client_mode: LakeConfig) -> LakeConfig:
    """The lake with drivers on YARN, where no file holds a password."""
    conf = {**client_mode.spark_conf, "spark.submit.deployMode": "cluster"}
    database = replace(client_mode.metastore_db, password_file="/there/is/no/such/file")
    return replace(client_mode, spark_conf=conf, metastore_db=database)


def govern(config: LakeConfig, settings: Settings, var: Path) -> None:
    """Have the portal govern this lake, with its own files below `var`."""
    entry = config.as_dict()
    del entry["lake"]
    lakes = var / "lakes.json"
    lakes.write_text(json.dumps({"main": entry}), encoding="utf-8")
    settings.LAKEWARDEN_LAKES = str(lakes)
    settings.LAKEWARDEN_VAR = var


@pytest.fixture
def lake(cluster_mode: LakeConfig, settings: Settings, tmp_path: Path) -> Iterator[ActLake]:
    """A fresh database and backup root, governed in cluster mode."""
    queues = {**cluster_mode.spark_queues, Drop.name: "governance"}
    govern(replace(cluster_mode, spark_queues=queues), settings, tmp_path)
    made = ActLake(cluster_mode, uuid.uuid4().hex[:8])
    made.fs.make_directories(made.root, mode=0o700)
    yield made
    made.metastore.close()
