"""The Spark session that writes into a stack's lake: Hive, Iceberg and Hudi tables.

One session a process: a second metastore needs a process of its own.
"""

import os
from pathlib import Path

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, load_lakes
from stack.places import jars_of

_EXTENSIONS = (
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
)


def open_session(
    config: LakeConfig, *, user: str | None = None, formats: bool = True
) -> SparkSession:
    """Open a session on the lake; `user` is who owns what it makes (HADOOP_USER_NAME)."""
    if user or config.hadoop_user:
        os.environ["HADOOP_USER_NAME"] = user or str(config.hadoop_user)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    jars = sorted({*config.spark_jars, *(map(str, jars_of("spark")) if formats else ())})
    settings = {
        **config.spark_conf,
        "spark.master": "local[2]",
        "spark.jars": ",".join(jars),
        "spark.hadoop.hive.metastore.uris": config.metastore_uri,
        "spark.hadoop.fs.defaultFS": config.default_fs,
        "spark.sql.session.timeZone": config.time_zone,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.hadoop.hive.exec.max.dynamic.partitions": "10000",
        "spark.hadoop.hive.exec.max.dynamic.partitions.pernode": "10000",
        "spark.sql.legacy.createHiveTableByDefault": "true",
        "spark.log.level": "WARN",
        "spark.ui.showConsoleProgress": "false",
    }
    if formats:
        settings |= {
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.sql.extensions": _EXTENSIONS,
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hive",
            "spark.sql.catalog.ice.uri": config.metastore_uri,
        }
    builder = SparkSession.builder.appName("lake-writer").enableHiveSupport()
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def open_session_of(lakes_file: Path, *, formats: bool = True) -> SparkSession:
    """Open a session on the lake named main of a lakes.json."""
    return open_session(load_lakes(lakes_file)["main"], formats=formats)
