"""A Spark program that writes an Iceberg and a Hudi table whose files wait to be compacted.

Started by spark-submit with the database's name and its location; prints the Iceberg table's id.
"""

import sys
from typing import Any

from pyspark.sql import SparkSession

ICEBERG = "ice"


def main(db: str, location: str) -> None:
    """Write two small files a table; the Hudi table has a plan of a compaction besides."""
    spark = SparkSession.builder.enableHiveSupport().getOrCreate()
    spark.sql(f"CREATE DATABASE {db} LOCATION '{location}'")
    columns = "(id BIGINT, dt STRING, word STRING)"
    iceberg = f"{ICEBERG}.{db}.iceberg"
    spark.sql(f"CREATE TABLE {iceberg} {columns} USING iceberg PARTITIONED BY (dt)")
    keys = "TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'id')"
    spark.sql(f"CREATE TABLE {db}.hudi {columns} USING hudi {keys}")
    settings = {
        "compact.inline": "false",
        "compact.schedule.inline": "true",
        "compact.inline.max.delta.commits": "1",
        # With it two writers would need a lock.
        "metadata.enable": "false",
    }
    for name, text in settings.items():
        spark.sql(f"SET hoodie.{name}={text}")
    for word in ("first", "second"):
        spark.sql(f"INSERT INTO {iceberg} VALUES (1, '2026-05-01', '{word}')")
    spark.sql(f"INSERT INTO {db}.hudi VALUES (1, '2026-05-01', 'first')")
    spark.sql(f"UPDATE {db}.hudi SET word = 'second' WHERE id = 1")
    gateway: Any = spark.sparkContext._jvm
    table = gateway.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        spark._jsparkSession, iceberg
    )
    sys.stdout.write(f"uuid {table.uuid()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
