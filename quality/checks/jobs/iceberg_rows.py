"""Reads an Iceberg table at one snapshot, and the rows that later snapshots appended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import DataFrame, SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.names import TableName, quoted
from quality.checks.jobs.errors import NotIncremental

_CATALOG = "lake"
_SAME_ROWS = "replace"
_MOST_COMMITS = 1000


@dataclass(frozen=True)
class IcebergRows:
    """One table at the snapshot that was its newest when it was opened."""

    spark: SparkSession
    sql: str
    java: Any
    commit: str

    @classmethod
    def open(cls, spark: SparkSession, config: LakeConfig, name: TableName) -> "IcebergRows":
        """Open a table.

        Raises:
            ExternalFailure: `iceberg.jar`.
        """
        _use_iceberg(spark, config)
        context: Any = spark.sparkContext
        session: Any = spark._jsparkSession
        catalog = session.sessionState().catalogManager().catalog(_CATALOG).icebergCatalog()
        parts = context._gateway.new_array(context._jvm.java.lang.String, 2)
        parts[0], parts[1] = name.db, name.table
        java = catalog.loadTable(context._jvm.org.apache.iceberg.catalog.TableIdentifier.of(parts))
        snapshot = java.currentSnapshot()
        commit = str(int(snapshot.snapshotId())) if snapshot is not None else ""
        return cls(spark, f"{_CATALOG}.{quoted(name.db)}.{quoted(name.table)}", java, commit)

    def read(self, key: str, values: Sequence[str]) -> DataFrame:
        """Return all rows; Iceberg itself leaves out files by the filter."""
        reader = self.spark.read.format("iceberg")
        if self.commit:
            reader = reader.option("snapshot-id", self.commit)
        return reader.load(self.sql)

    def newer(self, since: str) -> DataFrame:
        """Return the rows that snapshots after `since` appended.

        Raises:
            NotIncremental: One of them did something else, or `since` is no ancestor.
        """
        if since == self.commit:
            return self.read("", ()).limit(0)
        self._check_appended(since)
        reader = self.spark.read.format("iceberg").option("start-snapshot-id", since)
        return reader.option("end-snapshot-id", self.commit).load(self.sql)

    def is_settled(self) -> bool:
        """Return True: a snapshot does not change."""
        return True

    def _check_appended(self, since: str) -> None:
        snapshot = self.java.currentSnapshot()
        known = self.java.snapshot(int(since))
        if known is not None and known.schemaId() != snapshot.schemaId():
            raise NotIncremental(f"The columns changed since snapshot {since}.")
        for _ in range(_MOST_COMMITS):
            if snapshot is None:
                break
            if str(int(snapshot.snapshotId())) == since:
                return
            operation = str(snapshot.operation())
            if operation not in {"append", _SAME_ROWS}:
                raise NotIncremental(
                    f"Snapshot {int(snapshot.snapshotId())} changed or removed rows ({operation})."
                )
            parent = snapshot.parentId()
            snapshot = self.java.snapshot(parent) if parent is not None else None
        raise NotIncremental(
            f"Snapshot {since} is not among the table's snapshots any more: it expired, or was "
            "rolled back."
        )


def _use_iceberg(spark: SparkSession, config: LakeConfig) -> None:
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.org.apache.iceberg.spark.SparkCatalog, JavaPackage):
        raise ExternalFailure(
            "iceberg.jar",
            "Spark was started without Iceberg: put iceberg-spark-runtime-3.5_2.12-<version>.jar "
            f"into `spark_jars` of the lake {config.lake}.",
            service="spark",
            retryable=False,
        )
    prefix = f"spark.sql.catalog.{_CATALOG}"
    for key, value in {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "hive",
        f"{prefix}.uri": config.metastore_uri,
        f"{prefix}.cache-enabled": "false",
    }.items():
        spark.conf.set(key, value)
