"""Tables that somebody's own Spark program writes into the cluster's lake."""

from dataclasses import replace
from pathlib import Path

from stack.cluster_stack import ClusterStack
from tests.clusters.programs import Program, table_settings


def write_tables(cluster: ClusterStack, folder: Path, *statements: str) -> None:
    """Run statements of SQL in a program on this host, as the lake's own account."""
    jars = tuple(map(str, cluster.jars))
    here = replace(cluster.config(), spark_master="local[2]", spark_jars=jars)
    settings = {**table_settings(here), "spark.submit.deployMode": "client"}
    program = Path(__file__).with_name("table_writer.py")
    Program.submit(here, settings, program, *statements, folder=folder).output(timeout=300)
