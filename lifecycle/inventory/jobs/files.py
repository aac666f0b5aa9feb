"""Inspects files in executors, by the JVM functions of jvm/spark-functions as Spark columns.

They are marked non-deterministic, so that the optimizer neither repeats nor reorders them: each
call costs a listing. Rows must come sorted by table and partition, see `Listings.java`.
"""

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.column import _to_java_column, _to_seq

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure

DEFAULT_CALLS_PER_SECOND = 2_000

Function = Callable[..., Column]


class FileFunctions:
    """The functions of one scan, bound to its lake's file systems."""

    def __init__(
        self,
        spark: SparkSession,
        config: LakeConfig,
        *,
        calls_per_second: float = DEFAULT_CALLS_PER_SECOND,
        access_times: bool = True,
    ) -> None:
        self._spark = spark
        self.access_times = access_times
        jvm = _package(spark)
        own = config.path("/")
        settings = spark._jsc.hadoopConfiguration()
        share = calls_per_second / _n_executors(spark)
        access = jvm.Access(settings, f"{own.scheme}://{own.authority}", float(share))
        self.canonical = self._udf(jvm.CanonicalPath(config.default_fs, config.aliases), None)
        self.look = self._udf(jvm.Look(access, access_times), jvm.Look.type())
        self.runs = self._udf(jvm.Runs(), jvm.Runs.type())

    def _udf(self, function: Any, returns: Any) -> Function:
        gateway: Any = self._spark.sparkContext._jvm
        types = gateway.org.apache.spark.sql.types.DataTypes
        returns = types.StringType if returns is None else returns
        udf = gateway.lakewarden.spark.Functions.of(function, returns)
        context = self._spark.sparkContext

        def apply(*columns: Column) -> Column:
            return Column(udf.apply(_to_seq(context, columns, _to_java_column)))

        return apply


def _package(spark: SparkSession) -> Any:
    """Return the Java package, or say that its jar is not on the class path."""
    jvm: Any = spark.sparkContext._jvm
    package = jvm.lakewarden.spark
    try:
        package.Runs.type()
    except TypeError as error:
        raise ExternalFailure(
            "spark.functions_missing",
            "Lakewarden's Spark functions are not on the class path; build them "
            "(python -m stack.jvm) and name the jar in the lake's spark_jars.",
            service="spark",
            retryable=False,
        ) from error
    return package


def _n_executors(spark: SparkSession) -> int:
    status: Any = spark.sparkContext._jsc.sc().getExecutorMemoryStatus()
    return max(1, int(status.size()) - 1)
