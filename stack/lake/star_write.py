"""Writes the star schema: some days of orders, two files a day, and three small tables."""

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from portal.lake.names import TableName
from stack.lake.session import ICEBERG
from stack.lake.star import MAKERS, ORDERS, OWNER, PRODUCTS, SHOPS

N_DAYS, FILES_A_DAY, ROWS_A_FILE = 6, 2, 10_000
N_PRODUCTS, N_MAKERS, N_SHOPS = 240, 12, 40
_CITIES = "array('Berlin', 'Cologne', 'Hamburg', 'Leipzig', 'Munich')"
_CATEGORIES = "array('books', 'garden', 'kitchen', 'toys')"


def make_star(spark: SparkSession, *, now: datetime) -> None:
    """Make the four tables; those that have rows are left as they are."""
    _write(spark, MAKERS, N_MAKERS, "cast(id AS int) maker_id", "concat('Maker ', id + 1) maker")
    _write(
        spark,
        PRODUCTS,
        N_PRODUCTS,
        "cast(id AS int) product_id",
        f"cast(id % {N_MAKERS} AS int) maker_id",
        f"element_at({_CATEGORIES}, cast(id % 4 AS int) + 1) category",
        "concat('Product ', id) name",
    )
    _write(
        spark,
        SHOPS,
        N_SHOPS,
        "cast(id AS int) shop_id",
        f"element_at({_CITIES}, cast(id % 5 AS int) + 1) city",
    )
    first = (now - timedelta(days=N_DAYS)).date()
    _write(
        spark,
        ORDERS,
        N_DAYS * FILES_A_DAY * ROWS_A_FILE,
        "id order_id",
        f"cast(xxhash64(id, 1) & 1023 AS int) % {N_PRODUCTS} product_id",
        f"cast(xxhash64(id, 2) & 1023 AS int) % {N_SHOPS} shop_id",
        f"date_add(date'{first}', cast(id / {FILES_A_DAY * ROWS_A_FILE} AS int)) ordered_on",
        "cast(1 + (xxhash64(id, 3) & 7) AS int) pieces",
        "cast((xxhash64(id, 4) & 65535) / 100 AS decimal(10,2)) revenue",
        n_files=N_DAYS * FILES_A_DAY,
        by="PARTITIONED BY (ordered_on)",
    )


def _write(
    spark: SparkSession,
    table: TableName,
    n_rows: int,
    *columns: str,
    n_files: int = 1,
    by: str = "",
) -> None:
    name = f"{ICEBERG}.{table.db}.{table.table}"
    rows = spark.range(0, n_rows, 1, n_files).selectExpr(*columns)
    form = ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in rows.schema)
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {name} ({form}) USING iceberg {by} TBLPROPERTIES "
        f"('hive.metastore.table.owner' = '{OWNER}', 'format-version' = '2', "
        "'write.distribution-mode' = 'none')"
    )
    if not spark.table(f"{name}.snapshots").limit(1).count():
        rows.writeTo(name).append()
