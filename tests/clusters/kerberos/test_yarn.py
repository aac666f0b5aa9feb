"""Spark programs on YARN that live longer than the delegation tokens they began with."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.spark.kerberos import kerberos_environment, kerberos_settings
from portal.spark.launch import driver_environment
from portal.spark.masters.hadoop_conf import HADOOP_CONFIGURATION, hadoop_environment
from stack.cluster_assets import fetch_clusters
from stack.kerberized_stack import KerberizedStack
from stack.lake.session import ICEBERG, iceberg_catalog
from stack.places import spark_home
from stack.servers.kerberized import KerberizedHdfs
from stack.servers.kerberized_yarn import KerberizedYarn
from stack.servers.yarn import yarn_settings
from tests.clusters.kerberos.conftest import TOKEN_SECONDS

_WAIT_SECONDS = 2 * TOKEN_SECONDS + 5
_MODES = ("client", "cluster")


@pytest.fixture
def yarn(secured: KerberizedStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[KerberizedYarn]:
    """A secured YARN over the secured HDFS."""
    fetch_clusters()
    assert isinstance(secured.hdfs, KerberizedHdfs)
    cluster = KerberizedYarn(secured.var, ledger=secured.ledger, hdfs=secured.hdfs)
    monkeypatch.delenv(HADOOP_CONFIGURATION, raising=False)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _settings(config: LakeConfig, mode: str) -> dict[str, str]:
    settings = {
        **yarn_settings(config.spark_conf, mode=mode),
        **iceberg_catalog(config),
        "spark.yarn.queue": "governance",
        "spark.yarn.maxAppAttempts": "1",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable,
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        f"spark.sql.catalog.{ICEBERG}.client.pool.cache.eviction-interval-ms": "5000",
    }
    return settings | kerberos_settings(config, settings)


def _submit(config: LakeConfig, mode: str, db: str, folder: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    confs = [f"--conf={key}={value}" for key, value in _settings(config, mode).items()]
    jars = ",".join(f"local:{jar}" for jar in config.spark_jars)
    program = str(Path(__file__).with_name("long_writer.py"))
    where = str(config.path(f"/user/{db}"))
    with (folder / "log").open("w", encoding="utf-8") as log:
        return subprocess.Popen(
            [
                str(spark_home() / "bin" / "spark-submit"),
                *("--master", "yarn", "--jars", jars, *confs),
                *(program, db, where, str(_WAIT_SECONDS)),
            ],
            env={
                **driver_environment(config, {}),
                **kerberos_environment(config),
                **hadoop_environment(config, folder),
            },
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def test_programs_on_yarn_write_on_after_their_tokens_are_over(
    secured: KerberizedStack, yarn: KerberizedYarn, tmp_path: Path
) -> None:
    lake = secured.config()
    hadoop_conf = {**lake.hadoop_conf, **yarn.client_properties}
    config = replace(lake, spark_master="yarn", hadoop_conf=hadoop_conf)
    names = {mode: f"{mode}_{uuid.uuid4().hex[:8]}" for mode in _MODES}
    running = {mode: _submit(config, mode, db, tmp_path / mode) for mode, db in names.items()}
    said = {mode: program.communicate(timeout=500)[0] for mode, program in running.items()}
    for mode, program in running.items():
        assert program.returncode == 0, (tmp_path / mode / "log").read_text("utf-8")[-6000:]
    # In cluster mode the driver writes into its container's log.
    logs = (yarn.node.directory / "containers").glob("*/*/stdout")
    text = said["client"] + "".join(log.read_text("utf-8") for log in logs)
    for db in names.values():
        for table in (f"{db}.plain", f"{ICEBERG}.{db}.iceberg", f"{db}.hudi"):
            assert f"{table} [1, 2]" in text
