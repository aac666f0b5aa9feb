"""A Spark program that does a little of all that jobs do, so that its classes are loaded once.

Run by spark-submit from `stack/spark_classes.py`, with a scratch folder as its argument.
"""

import sys

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F


def _busy(numbers: DataFrame) -> DataFrame:
    """Join, group, number and sort, with the types that our jobs have."""
    named = numbers.selectExpr(
        "id",
        "id % 7 as part",
        "concat('name-', cast(id as string)) as name",
        "timestamp_millis(id * 1000) as at",
        "cast(id as decimal(20, 2)) as amount",
        "array(id, id + 1) as pair",
        "map('key', cast(id as string)) as words",
        "named_struct('first', id, 'second', 'text') as both",
    )
    sums = named.groupBy("part").agg(
        F.count(F.lit(1)).alias("n"),
        F.sum("amount").alias("total"),
        F.max("at").alias("last"),
        F.collect_set("name").alias("names"),
    )
    order = Window.partitionBy("part").orderBy(F.col("id").desc())
    return (
        named.join(sums, "part", "left")
        .withColumn("place", F.row_number().over(order))
        .withColumn("before", F.lag("id").over(order))
        .withColumn("kind", F.when(F.col("n") > 1, F.lower("name")).otherwise(F.lit(None)))
        .withColumn("one", F.explode("pair"))
        .where(F.col("name").rlike("^name") & F.col("id").isNotNull())
        .orderBy("part", "id")
    )


def main() -> None:
    """Write, read and collect once."""
    place = sys.argv[1]
    spark = SparkSession.builder.appName("warm-up").getOrCreate()
    rows = spark.createDataFrame([("a", 1), ("b", None)], "word string, number int")
    busy = _busy(spark.range(200).repartition(3)).unionByName(
        _busy(spark.range(5)), allowMissingColumns=True
    )
    busy.write.mode("overwrite").parquet(f"{place}/parquet")
    busy.drop("pair").write.mode("overwrite").json(f"{place}/json")
    found = spark.read.parquet(f"{place}/parquet").join(F.broadcast(rows), F.col("number") == 1)
    found.cache().groupBy("part").count().collect()
    spark.read.json(f"{place}/json").limit(3).collect()
    spark.stop()


if __name__ == "__main__":
    main()
