"""Opens tables of a lake whose commits can be read."""

from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import SparkSession

from pipelines.cdc.applying.jobs.target import check_hudi
from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.iceberg_source import IcebergSource
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.lake.formats import committed_format
from portal.lake.names import TableName


def open_source(spark: SparkSession, config: LakeConfig, name: TableName) -> Source:
    """Open a Hudi or Iceberg table as it stands now.

    Raises:
        NotVisible: The metastore does not have it.
        RuleViolation: `commits.format`, its commits cannot be read.
        ExternalFailure: `hudi.jar`, `hudi.serializer`, `iceberg.jar`.
    """
    with Metastore.connect(config) as metastore:
        struct = metastore.table(name)
    found = committed_format(struct)
    if found == "iceberg":
        _check_iceberg(spark, config)
        return IcebergSource.open(spark, config, name)
    if found == "hudi":
        check_hudi(spark, lake=str(config.lake))
        return HudiSource.open(spark, str(name), str(struct.sd.location))
    raise RuleViolation(
        "commits.format",
        f"{name} is neither a Hudi nor an Iceberg table, so nobody knows what of it changed.",
    )


def _check_iceberg(spark: SparkSession, config: LakeConfig) -> None:
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.org.apache.iceberg.spark.SparkCatalog, JavaPackage):
        raise ExternalFailure(
            "iceberg.jar",
            "Spark was started without Iceberg: put iceberg-spark-runtime-3.5_2.12-<version>.jar "
            f"into `spark_jars` of the lake {config.lake}.",
            service="spark",
            retryable=False,
        )
