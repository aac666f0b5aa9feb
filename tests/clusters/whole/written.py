"""Tables that somebody's own Spark program writes into the cluster's lake."""

from dataclasses import replace
from pathlib import Path

from portal.connectors.lake_config import LakeConfig
from tests.clusters.programs import Program, table_settings


def write_tables(config: LakeConfig, folder: Path, *statements: str) -> None:
    """Run statements of SQL in a program on this host, as the lake's own account."""
    jars = tuple(jar.removeprefix("local:") for jar in config.spark_jars)
    here = replace(config, spark_master="local[2]", spark_jars=jars)
    settings = {**table_settings(here), "spark.submit.deployMode": "client"}
    program = Path(__file__).with_name("table_writer.py")
    Program.submit(here, settings, program, *statements, folder=folder).output(timeout=300)
