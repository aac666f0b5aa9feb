"""Reads the images of changed rows that Hudi keeps for a table with change capture.

An image is JSON, of two forms: what a commit logged, and what Hudi works out from files. A missing
one is NULL in one form and the text `null` in the other. Decimals are lost in the second form, and
binary data is text of another form, so only columns that both write alike are read by images.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.commits.jobs.changes import WEIGHT

_SAFE = (
    T.ByteType,
    T.ShortType,
    T.IntegerType,
    T.LongType,
    T.StringType,
    T.BooleanType,
    T.DateType,
)
_QUERY = "hoodie.datasource.query"
_READ = "hoodie.datasource.read"


def are_readable(schema: T.StructType) -> bool:
    """Whether all columns are of types that images keep."""
    return all(isinstance(one.dataType, _SAFE) for one in schema)


def read_images(
    spark: SparkSession, location: str, schema: T.StructType, *, began: str, ended: str
) -> DataFrame:
    """Return signed rows of the commits completed after `began`, up to `ended`."""
    found = (
        spark.read.format("hudi")
        .option(f"{_QUERY}.type", "incremental")
        .option(f"{_QUERY}.incremental.format", "cdc")
        .option(f"{_READ}.begin.instanttime", began)
        .option(f"{_READ}.end.instanttime", ended)
        .load(location)
    )
    both = F.array(
        F.struct(F.col("before").alias("image"), F.lit(-1).alias(WEIGHT)),
        F.struct(F.col("after").alias("image"), F.lit(1).alias(WEIGHT)),
    )
    there = found.select(F.explode(both).alias("one")).select("one.*")
    there = there.where("image IS NOT NULL AND image <> 'null'")
    parsed = F.from_json("image", _as_written(schema), {"mode": "FAILFAST"}).alias("row")
    return there.select(parsed, WEIGHT).select(*_as_read(schema.fields), WEIGHT)


def _as_written(schema: T.StructType) -> T.StructType:
    """Return the schema of an image: a date is the number of its day."""
    return T.StructType(
        [
            T.StructField(
                one.name, T.IntegerType() if isinstance(one.dataType, T.DateType) else one.dataType
            )
            for one in schema
        ]
    )


def _as_read(fields: Sequence[T.StructField]) -> list[Column]:
    return [
        (
            F.date_from_unix_date(F.col(f"row.`{one.name}`"))
            if isinstance(one.dataType, T.DateType)
            else F.col(f"row.`{one.name}`")
        ).alias(one.name)
        for one in fields
    ]
