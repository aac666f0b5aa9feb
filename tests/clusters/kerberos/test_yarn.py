"""A Spark program on YARN that lives longer than the delegation tokens it began with."""

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.spark.kerberos import HADOOP_CONFIGURATION, kerberos_environment, kerberos_settings
from portal.spark.launch import driver_environment
from stack.cluster_assets import fetch_clusters
from stack.kerberized_stack import KerberizedStack
from stack.lake.session import ICEBERG, iceberg_catalog
from stack.places import spark_home
from stack.servers.kerberized import KerberizedHdfs
from stack.servers.kerberized_yarn import KerberizedYarn
from tests.clusters.kerberos.conftest import TOKEN_SECONDS

_WAIT_SECONDS = 2 * TOKEN_SECONDS + 5


@pytest.fixture
def yarn(secured: KerberizedStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[KerberizedYarn]:
    """A secured YARN over the secured HDFS."""
    fetch_clusters()
    assert isinstance(secured.hdfs, KerberizedHdfs)
    cluster = KerberizedYarn(secured.var, ledger=secured.ledger, hdfs=secured.hdfs)
    monkeypatch.setenv(HADOOP_CONFIGURATION, str(cluster.conf))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _settings(config: LakeConfig) -> dict[str, str]:
    settings = {
        **config.spark_conf,
        **iceberg_catalog(config),
        "spark.yarn.queue": "governance",
        "spark.yarn.maxAppAttempts": "1",
        # This host is the node: nothing has to be uploaded.
        "spark.yarn.jars": f"local:{spark_home() / 'jars'}/*",
        "spark.executor.instances": "1",
        "spark.driver.memory": "700m",
        "spark.yarn.am.memory": "512m",
        "spark.executor.memory": "500m",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        f"spark.sql.catalog.{ICEBERG}.client.pool.cache.eviction-interval-ms": "5000",
    }
    return settings | kerberos_settings(config, settings)


def test_a_program_on_yarn_writes_on_after_its_tokens_are_over(
    secured: KerberizedStack, yarn: KerberizedYarn, tmp_path: Path
) -> None:
    config = replace(secured.config(), spark_master="yarn")
    db = f"yarn_{uuid.uuid4().hex[:8]}"
    confs = [f"--conf={key}={value}" for key, value in _settings(config).items()]
    jars = ",".join(f"local:{jar}" for jar in config.spark_jars)
    program = str(Path(__file__).with_name("long_writer.py"))
    done = subprocess.run(
        [
            str(spark_home() / "bin" / "spark-submit"),
            *("--master", "yarn", "--jars", jars, *confs),
            *(program, db, str(config.path(f"/user/{db}")), str(_WAIT_SECONDS)),
        ],
        env={**driver_environment(config, {}), **kerberos_environment(config, tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    assert done.stdout.splitlines()[-3:] == [
        f"{db}.plain [1, 2]",
        f"{ICEBERG}.{db}.iceberg [1, 2]",
        f"{db}.hudi [1, 2]",
    ]
