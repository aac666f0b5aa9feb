"""Tables that somebody's own Spark program writes into the cluster's lake."""

import subprocess
from pathlib import Path

from portal.connectors.lake_config import LakeConfig
from portal.spark.kerberos import kerberos_environment, kerberos_settings
from portal.spark.launch import driver_environment
from portal.spark.masters.hadoop_conf import hadoop_environment
from stack.lake.session import iceberg_catalog
from stack.places import spark_home

_LOCAL = {
    "spark.submit.deployMode": "client",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
}


def write_tables(config: LakeConfig, folder: Path, *statements: str) -> None:
    """Run statements of SQL in a program on this host, as the lake's own account."""
    settings = {**config.spark_conf, **iceberg_catalog(config), **_LOCAL}
    settings |= {f"spark.hadoop.{name}": value for name, value in config.hadoop_conf.items()}
    settings |= kerberos_settings(config, settings)
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    jars = ",".join(jar.removeprefix("local:") for jar in config.spark_jars)
    program = str(Path(__file__).with_name("table_writer.py"))
    done = subprocess.run(
        [
            str(spark_home() / "bin" / "spark-submit"),
            *("--master", "local[2]", "--jars", jars, *confs, program, *statements),
        ],
        env={
            **driver_environment(config, {}),
            **kerberos_environment(config),
            **hadoop_environment(config, folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
