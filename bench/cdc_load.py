"""The full load: capture and apply beside each other, against Spark's own JDBC read and one commit.

Both write the same Hudi table with the same settings. The peer reads at one moment in ranges of the
key and commits once, by `bulk_insert`; it can do nothing about changes meanwhile, nor go on where
it was ended. Both have done the same with a small table before, which does not count.
"""

import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.cdc_programs import (
    Application,
    capture_until,
    capturing,
    commits,
    log_at,
    pipeline_order,
    table_order,
    wait,
)
from bench.cdc_source import Address, Shop
from bench.cdc_spark import digest, peaks, session
from bench.processor import processor_seconds
from pipelines.cdc.applying.domain.hudi_settings import VERSION, write_settings
from pipelines.cdc.applying.domain.messages import TableOrder

MOST_TIMES = 2.0
_FETCH = 10_000
_AT_ONCE = 2


def load(source: Address, folder: Path, n_rows: int, n_warm: int) -> dict[str, Any]:
    """Load a table by change capture; seconds are from the capture's start to the last commit."""
    spark, shop = session(), Shop(source)
    application = Application(spark, folder)
    tables = {name: table_order(n, shop.schema(name), folder / name) for n, name in _numbered()}
    logs = {name: folder / f"{name}-log" for name in tables}
    capture_until(shop.config(11, "warm"), logs["warm"], shop.position())
    log_at(logs["sales"])
    pipelines = [
        pipeline_order(n, logs[name], folder / f"{name}-apply", [tables[name]])
        for n, name in _numbered()
    ]
    with application.staying(*pipelines):
        wait(lambda: application.report(1).n_upserted == n_warm)
        spent, started = processor_seconds(), time.time()
        with capturing(shop.config(12, "sales"), logs["sales"]):
            wait(lambda: application.report(2).n_upserted >= n_rows)
            spent = processor_seconds() - spent
    found = commits(spark, tables["sales"].location)
    heads = [batch.header.at / 1000 for batch in log_at(logs["sales"]).read(0)]
    captured, whole = max(_loaded(logs["sales"])) - started, found[-1].at - started
    return {
        "seconds": round(whole, 1),
        "rows_per_second": round(n_rows / whole),
        "capture": {"seconds": round(captured, 1), "rows_per_second": round(n_rows / captured)},
        "batches": len(heads),
        "commits": len(found),
        "first_rows_seconds": round(found[0].at - started, 1),
        "processor_seconds": round(spent, 1),
        **peaks(spark),
        "digest": digest(spark, tables["sales"].location),
    }


def _numbered() -> list[tuple[int, str]]:
    return [(1, "warm"), (2, "sales")]


def _loaded(log: Path) -> list[float]:
    """Return when each batch with rows was captured."""
    return [one.header.at / 1000 for one in log_at(log).read(0) if one.changes]


def peer(source: Address, folder: Path, n_rows: int, n_warm: int) -> dict[str, Any]:
    """Read the table by JDBC and write it by one `bulk_insert`."""
    spark, shop = session(), Shop(source)
    orders = {}
    for n, name in _numbered():
        orders[name] = table_order(n, shop.schema(name), folder / name)
    insert(spark, jdbc(spark, shop, "warm", n_warm), orders["warm"])
    spent, started = processor_seconds(), time.time()
    insert(spark, jdbc(spark, shop, "sales", n_rows), orders["sales"])
    seconds = time.time() - started
    return {
        "seconds": round(seconds, 1),
        "rows_per_second": round(n_rows / seconds),
        "processor_seconds": round(processor_seconds() - spent, 1),
        **peaks(spark),
        "digest": digest(spark, orders["sales"].location),
    }


def jdbc(spark: SparkSession, shop: Shop, table: str, n_rows: int) -> DataFrame:
    """Return a table as Spark reads it: in streams of even ranges of the key."""
    options = {
        "url": f"jdbc:mysql://127.0.0.1:{shop.port}/shop?permitMysqlScheme&useMysqlMetadata=true",
        "driver": "org.mariadb.jdbc.Driver",
        "user": "capture",
        "password": "capture",
        "dbtable": table,
        "partitionColumn": "id",
        "lowerBound": "1",
        "upperBound": str(n_rows),
        "numPartitions": str(max(2, n_rows // 500_000)),
        "fetchsize": str(_FETCH),
    }
    return spark.read.format("jdbc").options(**options).load()


def insert(spark: SparkSession, rows: DataFrame, order: TableOrder) -> None:
    """Write rows as the first commit of a table, with the settings of the product's program."""
    settings = write_settings(order, parallelism=_AT_ONCE) | {
        "hoodie.datasource.write.operation": "bulk_insert",
        "hoodie.bulkinsert.shuffle.parallelism": str(_AT_ONCE),
    }
    typed = [F.col(one.name).cast(one.type).alias(one.name) for one in order.columns]
    frame = rows.select(*typed, F.lit(0).cast("bigint").alias(VERSION))
    frame.write.format("hudi").options(**settings).mode("append").save(order.location)
