"""Lists the Iceberg and Hudi tables that the metastore holds now, and their locations.

Read by JDBC from the metastore's own database and written as Parquet: no table is opened, and none
comes to the driver.
"""

import os
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from optimizer.hudi.inspect.domain.facts import PROPERTIES
from optimizer.iceberg.tables.domain.events import PARAMETERS
from portal.connectors import metastore_db as sql
from portal.connectors.lake_config import LakeConfig
from portal.spark.job import JobContext

IN_ENVIRONMENT = "LW_METASTORE_DB_PASSWORD"
TABLES = "iceberg_tables"
HUDI, HUDI_SAID = "hudi_tables", "hudi_properties"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Read all tables of both formats; `read_at` is an instant before the reading."""
    job.progress("read")
    for name, rows in (
        (TABLES, iceberg_rows(spark, job.config)),
        (HUDI, hudi_rows(spark, job.config)),
        (HUDI_SAID, hudi_properties(spark, job.config)),
    ):
        target = str(job.spool.results.child(name))
        rows.coalesce(1).write.mode("overwrite").parquet(target)
    return {"results_uri": str(job.spool.results), "read_at": str(job.params["read_at"])}


def iceberg_rows(spark: SparkSession, config: LakeConfig) -> DataFrame:
    """Return one row an Iceberg table; nothing is read yet."""
    return _rows(spark, config, sql.iceberg_tables(PARAMETERS))


def hudi_rows(spark: SparkSession, config: LakeConfig) -> DataFrame:
    """Return one row a name of a Hudi table; nothing is read yet."""
    return _rows(spark, config, sql.HUDI_TABLES)


def hudi_properties(spark: SparkSession, config: LakeConfig) -> DataFrame:
    """Return what tables say of who compacts, cleans and locks, one row a property."""
    names = ", ".join(f"'{name}'" for name in PROPERTIES)
    return _rows(spark, config, sql.TABLE_PARAMETERS.format(names=names))


def _rows(spark: SparkSession, config: LakeConfig, template: str) -> DataFrame:
    database = config.metastore_db
    password = os.environ.get(IN_ENVIRONMENT) or database.password()
    query = sql.dialect_of(database).sql(template)
    options = sql.jdbc_options(database, password=password)
    return spark.read.format("jdbc").options(**options).option("dbtable", f"({query}) q").load()
