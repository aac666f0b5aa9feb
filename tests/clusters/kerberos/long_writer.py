"""A Spark program that writes Hive, Iceberg and Hudi tables for longer than its ticket is valid.

Started by spark-submit with the database's name, its location, and how many seconds to go on.
"""

import sys
import time

from pyspark.sql import SparkSession

ICEBERG = "ice"


def main(db: str, location: str, seconds: float) -> None:
    """Write a row into each table before and after the wait, and print what is read at the end."""
    spark = SparkSession.builder.enableHiveSupport().getOrCreate()
    spark.sql(f"CREATE DATABASE {db} LOCATION '{location}'")
    columns = "(id INT, ts INT)"
    spark.sql(f"CREATE TABLE {db}.plain {columns} STORED AS PARQUET")
    spark.sql(f"CREATE TABLE {ICEBERG}.{db}.iceberg {columns} USING iceberg")
    keys = "TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts')"
    spark.sql(f"CREATE TABLE {db}.hudi {columns} USING hudi {keys}")
    tables = (f"{db}.plain", f"{ICEBERG}.{db}.iceberg", f"{db}.hudi")
    for n in (1, 2):
        for table in tables:
            spark.sql(f"INSERT INTO {table} VALUES ({n}, {n})")
        if n == 1:
            time.sleep(seconds)
    for table in tables:
        ids = [row.id for row in spark.sql(f"SELECT id FROM {table} ORDER BY id").collect()]
        sys.stdout.write(f"{table} {ids}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
