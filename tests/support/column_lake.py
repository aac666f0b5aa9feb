"""A lake whose data Spark wrote, with Hadoop's checksums beside it."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from portal.lake.paths import LakePath
from tests.support.act_lake import ActLake


@dataclass
class ColumnLake(ActLake):
    """Its tables hold rows that a reader of columns can read."""

    spark: SparkSession | None = None

    def make_files(self, directory: LakePath, *, n: int) -> None:
        """Write `n` rows and three more."""
        assert self.spark is not None
        rows = self.spark.range(n + 3).selectExpr("id", "map('k', array(1, 2)) AS m")
        rows.coalesce(1).write.mode("overwrite").parquet(str(directory))
