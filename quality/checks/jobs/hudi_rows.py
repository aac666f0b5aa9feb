"""Reads a Hudi table, and the rows that later commits inserted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.lake.errors import ExternalFailure
from portal.lake.formats import HUDI_SAME_ROWS
from quality.checks.jobs.errors import NotIncremental

_INSERTS = frozenset({"INSERT", "BULK_INSERT"})
_QUERY = "hoodie.datasource.query.type"


@dataclass(frozen=True)
class HudiRows:
    """One table; `commit` is the time at which its newest commit was completed."""

    spark: SparkSession
    location: str
    java: Any
    commit: str

    @classmethod
    def open(cls, spark: SparkSession, location: str) -> "HudiRows":
        """Open a table at its base path.

        Raises:
            ExternalFailure: `hudi.jar`.
        """
        jvm: Any = spark.sparkContext._jvm
        if isinstance(jvm.org.apache.hudi.common.table.HoodieTableMetaClient, JavaPackage):
            raise ExternalFailure(
                "hudi.jar",
                "Spark was started without Hudi: put hudi-spark3.5-bundle_2.12-<version>.jar into "
                "`spark_jars` of the lake.",
                service="spark",
                retryable=False,
            )
        java = _client(spark, location)
        return cls(spark, location, java, _newest(java))

    def read(self, key: str, values: Sequence[str]) -> DataFrame:
        """Return all rows; Hudi itself leaves out partitions by the filter."""
        return self.spark.read.format("hudi").option(_QUERY, "snapshot").load(self.location)

    def newer(self, since: str) -> DataFrame:
        """Return the rows that commits completed after `since` inserted.

        Raises:
            NotIncremental: One of them did something else, or `since` is archived.
        """
        instants = self._inserts_after(since)
        reader = self.spark.read.format("hudi").option(_QUERY, "incremental")
        frame = (
            reader.option("hoodie.datasource.read.begin.instanttime", since)
            .option("hoodie.datasource.read.end.instanttime", self.commit)
            .load(self.location)
        )
        # Hudi returns no rows where its column of instants is not among those that are read.
        return frame.where(F.col("_hoodie_commit_time").isin(instants))

    def is_settled(self) -> bool:
        """Return whether no commit was completed while rows were read."""
        return _newest(_client(self.spark, self.location)) == self.commit

    def _inserts_after(self, since: str) -> list[str]:
        """Return the instants of the rows that were inserted since."""
        found: list[str] = []
        timeline = self.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        is_known = False
        for instant in _listed(timeline):
            if str(instant.getCompletionTime()) <= since:
                is_known = is_known or str(instant.getCompletionTime()) == since
                continue
            metadata = timeline.readCommitMetadata(instant)
            operation = str(metadata.getOperationType())
            if operation in HUDI_SAME_ROWS:
                continue
            changed = int(metadata.fetchTotalUpdateRecordsWritten())
            deleted = sum(int(one.getNumDeletes()) for one in _stats(metadata))
            if operation not in _INSERTS or changed or deleted:
                raise NotIncremental(
                    f"Commit {instant.requestedTime()} changed or removed rows ({operation})."
                )
            found.append(str(instant.requestedTime()))
        if not is_known:
            raise NotIncremental(
                f"The commit completed at {since} is not on the active timeline any more: it was "
                "archived, or rolled back."
            )
        return found


def _client(spark: SparkSession, location: str) -> Any:
    context: Any = spark.sparkContext
    hudi = context._jvm.org.apache.hudi
    conf = hudi.hadoop.fs.HadoopFSUtils.getStorageConf(context._jsc.hadoopConfiguration())
    builder = hudi.common.table.HoodieTableMetaClient.builder().setConf(conf)
    return builder.setBasePath(location).build()


def _newest(java: Any) -> str:
    timeline = java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
    return max((str(one.getCompletionTime()) for one in _listed(timeline)), default="")


def _listed(timeline: Any) -> list[Any]:
    return list(timeline.getInstants())


def _stats(metadata: Any) -> list[Any]:
    return list(metadata.getWriteStats())
