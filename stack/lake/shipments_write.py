"""Writes the table of shipments, one file for every hour."""

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from stack.demo_days import N_PLAYED_DAYS
from stack.lake.session import ICEBERG
from stack.lake.shipments import N_PRODUCTS, N_SHOPS, OWNER, SHIPMENTS

N_FILES = 24
ROWS_A_FILE = 4_000
_COLUMNS = "shipped_at timestamp, product_id int, shop_id int, pieces int, label string"
# Codes of a label, which fill each file to the least size that a policy may ask for.
_CODES = 6


def make_shipments(
    spark: SparkSession,
    table: str = f"{ICEBERG}.{SHIPMENTS.db}.{SHIPMENTS.table}",
    *,
    now: datetime,
) -> None:
    """Make the table by its name in Spark; one that has rows is left as it is."""
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {table} ({_COLUMNS}) USING iceberg TBLPROPERTIES "
        f"('hive.metastore.table.owner' = '{OWNER}', 'format-version' = '2', "
        "'write.distribution-mode' = 'none')"
    )
    if spark.table(f"{table}.snapshots").limit(1).count():
        return
    first = (now - timedelta(days=N_PLAYED_DAYS, hours=N_FILES)).timestamp()
    codes = ", ".join(f"sha2(concat('{n}-', id), 256)" for n in range(_CODES))
    spark.range(0, N_FILES * ROWS_A_FILE, 1, N_FILES).selectExpr(
        f"timestamp_micros(cast({first} * 1e6 AS bigint) + id * {3_600_000_000 // ROWS_A_FILE}) "
        "shipped_at",
        f"cast(rand(1) * {N_PRODUCTS} AS int) product_id",
        f"cast(rand(2) * {N_SHOPS} AS int) shop_id",
        "cast(1 + rand(3) * 20 AS int) pieces",
        f"concat({codes}) label",
    ).writeTo(table).append()
