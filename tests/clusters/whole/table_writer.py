"""A Spark program that runs the SQL statements it is given, each an argument."""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    spark = SparkSession.builder.enableHiveSupport().getOrCreate()
    for statement in sys.argv[1:]:
        spark.sql(statement)
