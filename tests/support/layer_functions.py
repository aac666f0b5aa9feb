"""Functions of layers, as a company's module has them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def doubled(rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    """Return each row with twice its number."""
    return rows.where("qty is not null").select(
        "id", "dt", (F.col("qty") * 2).cast("smallint").alias("Qty")
    )


def counted(rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    """Return what no change of a row can be taken out of."""
    return rows.groupBy("id").count()


def numbered(rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    """Return other numbers at each call."""
    return rows.select("id", F.rand().alias("number"))


def elsewhere(rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    """Return what is not made of the rows."""
    return rows.sparkSession.range(3)


def broken(rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    """Fail as any program may."""
    raise KeyError("rates")


def nothing(rows: DataFrame, static: Mapping[str, DataFrame]) -> str:
    """Return no frame."""
    return "nothing"
