"""Spark programs on YARN that live longer than the delegation tokens they began with."""

import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import check_lake
from portal.lake.errors import ExternalFailure
from portal.spark.masters.hadoop_conf import HADOOP_CONFIGURATION
from portal.spark.masters.resource_manager import ResourceManager
from stack.cluster_assets import fetch_clusters
from stack.kerberized_stack import KerberizedStack
from stack.lake.session import ICEBERG
from stack.servers.base import running
from stack.servers.kdc import HOST, REALM
from stack.servers.kerberized import KerberizedHdfs
from stack.servers.kerberized_yarn import KerberizedYarn
from stack.servers.yarn import yarn_settings
from tests.clusters.kerberos.conftest import LONG_WRITER, TOKEN_SECONDS
from tests.clusters.programs import Program, table_settings

_WAIT_SECONDS = str(2 * TOKEN_SECONDS + 5)
_MODES = ("client", "cluster")


@pytest.fixture(scope="module")
def yarn(secured: KerberizedStack) -> Iterator[KerberizedYarn]:
    """A secured YARN over the secured HDFS."""
    fetch_clusters()
    assert isinstance(secured.hdfs, KerberizedHdfs)
    cluster = KerberizedYarn(secured.var, ledger=secured.ledger, hdfs=secured.hdfs)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(HADOOP_CONFIGURATION, raising=False)
        with running(cluster):
            yield cluster


@pytest.fixture
def config(secured: KerberizedStack, yarn: KerberizedYarn) -> LakeConfig:
    """The lake with YARN as Spark's master."""
    lake = secured.config()
    hadoop_conf = {**lake.hadoop_conf, **yarn.client_properties}
    jars = tuple(f"local:{jar}" for jar in lake.spark_jars)
    return replace(lake, spark_master="yarn", spark_jars=jars, hadoop_conf=hadoop_conf)


def test_the_web_service_gets_a_proof_of_who_asks(config: LakeConfig, yarn: KerberizedYarn) -> None:
    address = f"http://{HOST}:{yarn.manager.port}/ws/v1/cluster/info?user.name=lakewarden"
    assert requests.get(address, timeout=10).status_code == 401, "a name alone is not enough"
    manager = ResourceManager.of(config)
    found = manager.service()
    assert (found.state, found.is_proven) == ("STARTED", True)
    assert manager.tagged("lw-nothing") == []
    with pytest.raises(ExternalFailure, match="HTTP 404"):
        manager.kill("application_1_0001")
    (row,) = [row for row in check_lake(config) if row.system == "Spark master"]
    assert (row.as_whom, row.advice) == (f"lakewarden@{REALM}", "")


def test_a_web_service_that_gets_no_proof_is_told_of(config: LakeConfig) -> None:
    nobody = ResourceManager.of(replace(config, kerberos=None, hadoop_user="lakewarden"))
    with pytest.raises(ExternalFailure, match=r"kerberos in lakes\.json") as found:
        nobody.service()
    assert found.value.code == "yarn.wants_proof"
    name = "yarn.resourcemanager.webapp.spnego-principal"
    other = {**config.hadoop_conf, name: f"HTTP/elsewhere@{REALM}"}
    with pytest.raises(ExternalFailure, match=f"HTTP/elsewhere@{REALM}") as found:
        ResourceManager.of(replace(config, hadoop_conf=other)).service()
    assert found.value.code == "kerberos.service"


def _submit(config: LakeConfig, mode: str, db: str, folder: Path) -> Program:
    settings = {
        **yarn_settings(table_settings(config), mode=mode),
        "spark.yarn.queue": "governance",
        "spark.yarn.maxAppAttempts": "1",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable,
    }
    where = str(config.path(f"/user/{db}"))
    return Program.submit(config, settings, LONG_WRITER, db, where, _WAIT_SECONDS, folder=folder)


def test_programs_on_yarn_write_on_after_their_tokens_are_over(
    config: LakeConfig, yarn: KerberizedYarn, tmp_path: Path
) -> None:
    names = {mode: f"{mode}_{uuid.uuid4().hex[:8]}" for mode in _MODES}
    running = {mode: _submit(config, mode, db, tmp_path / mode) for mode, db in names.items()}
    said = {mode: program.output(timeout=500) for mode, program in running.items()}
    # In cluster mode the driver writes into its container's log.
    logs = (yarn.node.directory / "containers").glob("*/*/stdout")
    text = said["client"] + "".join(log.read_text("utf-8") for log in logs)
    for db in names.values():
        for table in (f"{db}.plain", f"{ICEBERG}.{db}.iceberg", f"{db}.hudi"):
            assert f"{table} [1, 2]" in text
