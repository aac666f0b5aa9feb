"""Programs of table writers, submitted to Spark as the account of a lake."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from portal.connectors.lake_config import LakeConfig
from portal.spark.kerberos import kerberos_environment, kerberos_settings
from portal.spark.launch import driver_environment
from portal.spark.masters.hadoop_conf import hadoop_environment
from portal.spark.masters.standalone import properties_arguments, standalone_settings
from stack.lake.session import ICEBERG, iceberg_catalog
from stack.places import spark_home


def table_settings(config: LakeConfig) -> dict[str, str]:
    """Return the settings of a program that writes Hive, Iceberg and Hudi tables."""
    return {
        **config.spark_conf,
        **{f"spark.hadoop.{name}": value for name, value in config.hadoop_conf.items()},
        **iceberg_catalog(config),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions"
        ".IcebergSparkSessionExtensions,org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        # Clients of the metastore are made again by a program that has waited.
        f"spark.sql.catalog.{ICEBERG}.client.pool.cache.eviction-interval-ms": "5000",
    }


@dataclass(frozen=True, slots=True)
class Program:
    """A submitted program."""

    process: subprocess.Popen[str]
    log: Path

    @classmethod
    def submit(
        cls, config: LakeConfig, settings: Mapping[str, str], *words: str | Path, folder: Path
    ) -> Self:
        """Start a program, given as its file and arguments, with its log and work in `folder`."""
        folder.mkdir(exist_ok=True)
        asked = dict(settings)
        asked |= standalone_settings(config, asked)
        asked |= kerberos_settings(config, asked)
        log = folder / "program.log"
        with log.open("w", encoding="utf-8") as said:
            process = subprocess.Popen(
                [
                    str(spark_home() / "bin" / "spark-submit"),
                    *("--master", config.spark_master, "--jars", ",".join(config.spark_jars)),
                    *properties_arguments(config),
                    *(f"--conf={name}={value}" for name, value in asked.items()),
                    *map(str, words),
                ],
                env={
                    **driver_environment(config, {}),
                    **kerberos_environment(config),
                    **hadoop_environment(config, folder),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                },
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        return cls(process, log)

    def output(self, *, timeout: int) -> str:
        """Wait that many seconds for its end, which has to be a good one; returns what it said."""
        try:
            said, _ = self.process.communicate(timeout=timeout)
        finally:
            self.process.kill()
        assert self.process.returncode == 0, said + self.log.read_text("utf-8")[-6000:]
        return said
