"""The Spark session that writes into a stack's lake: Hive, Iceberg and Hudi tables.

One session a process: a second metastore needs a process of its own.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.spark.java_names import remember_java_names
from stack.places import jars_of

ICEBERG = "ice"
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
            **iceberg_catalog(config),
        }
    return _open(settings)


def open_small_session(
    config: LakeConfig, *, user: str, more: Mapping[str, str] | None = None
) -> SparkSession:
    """Open a session for Iceberg tables alone, with one core and little memory."""
    os.environ["HADOOP_USER_NAME"] = user
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return _open(
        {
            **config.spark_conf,
            "spark.master": "local[1]",
            "spark.driver.memory": "512m",
            "spark.sql.shuffle.partitions": "1",
            "spark.jars": ",".join(config.spark_jars),
            "spark.hadoop.fs.defaultFS": config.default_fs,
            "spark.sql.session.timeZone": config.time_zone,
            "spark.log.level": "WARN",
            "spark.ui.showConsoleProgress": "false",
            **iceberg_catalog(config, is_cached=False),
            **(more or {}),
        },
        with_hive=False,
    )


def iceberg_catalog(
    config: LakeConfig,
    name: str = ICEBERG,
    *,
    of: str = "org.apache.iceberg.spark.SparkCatalog",
    is_cached: bool = True,
) -> dict[str, str]:
    """Return the settings of a catalog of the lake's Iceberg tables; `of` is its class.

    Where others commit to the same tables meanwhile it must not be cached.
    """
    own = f"spark.sql.catalog.{name}"
    found = {own: of, f"{own}.type": "hive", f"{own}.uri": config.metastore_uri}
    return found if is_cached else found | {f"{own}.cache-enabled": "false"}


def _open(settings: Mapping[str, str], *, with_hive: bool = True) -> SparkSession:
    remember_java_names()
    builder = SparkSession.builder.appName("lake-writer")
    if with_hive:
        builder = builder.enableHiveSupport()
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def open_session_of(lakes_file: Path, *, formats: bool = True) -> SparkSession:
    """Open a session on the lake named main of a lakes.json."""
    return open_session(load_lakes(lakes_file)["main"], formats=formats)
