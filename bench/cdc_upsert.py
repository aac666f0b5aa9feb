"""The apply of a changelog, against a bare Hudi upsert of the same batches.

Both read the same files in the same groups and make the same commits with the same settings of
Hudi. The peer trusts what it reads: it casts by Spark's own cast, takes the newest of a key by
Hudi's merge, deletes before it upserts, and keeps nothing of its own: no tombstones, no quarantine,
no late rows, no marks. The changes are such that this gives the right table.
"""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.cdc_programs import (
    Application,
    capture_until,
    commits,
    last_of,
    log_at,
    pipeline_order,
    table_order,
)
from bench.cdc_source import CHANGES, Address, Changes, Shop
from bench.cdc_spark import digest, peaks, session
from pipelines.cdc.applying.domain.hudi_settings import (
    UNFINISHED,
    VERSION,
    evolving,
    write_settings,
)
from pipelines.cdc.applying.domain.messages import Orders, TableOrder

MOST_TIMES = 1.3
GROUP = Orders().most_batches_at_once


@dataclass(frozen=True)
class Batches:
    """The changelog of a table: a full load, then changes."""

    table: str
    log: Path
    loaded: int
    """Last batch of the load."""
    last: int

    @property
    def parts(self) -> dict[str, range]:
        """The batches of each part."""
        return {
            "load": range(1, self.loaded + 1),
            "changes": range(self.loaded + 1, self.last + 1),
        }

    def files(self, numbers: Iterable[int]) -> list[Path]:
        """Return where batches are."""
        return [self.log / "batches" / f"{number:020}.jsonl" for number in numbers]


def batches_of(shop: Shop, table: str, folder: Path, *, n_rows: int, n_changes: int) -> Batches:
    """Make a table, and capture its load and some changes."""
    shop.make(table, n_rows)
    log, config = folder / f"{table}-log", shop.config(21, table)
    capture_until(config, log, shop.position())
    loaded = last_of(log_at(log))
    changes = Changes(shop, table, n_rows)
    for _ in range(n_changes // CHANGES):
        changes.commit()
    capture_until(config, log, shop.position())
    return Batches(table, log, loaded, last_of(log_at(log)))


def ours(source: Address, folder: Path, *both: Batches) -> dict[str, Any]:
    """Apply changelogs by the product's program, part by part; the last one counts."""
    spark, shop = session(), Shop(source)
    application = Application(spark, folder)
    found: dict[str, Any] = {}
    for one in both:
        order = table_order(1, shop.schema(one.table), folder / one.table)
        log = folder / f"{one.table}-log"
        (log / "batches").mkdir(parents=True)
        before = 0
        for part, numbers in one.parts.items():
            for file in one.files(numbers):
                os.link(file, log / "batches" / file.name)
            started = time.time()
            application.apply_all(pipeline_order(1, log, folder / f"{one.table}-apply", [order]))
            done = commits(spark, order.location)
            found[part] = _figures(started, done[-1].at, len(done) - before)
            before = len(done)
    return {**found, **peaks(spark), "digest": digest(spark, order.location)}


def peer(source: Address, folder: Path, *both: Batches) -> dict[str, Any]:
    """Upsert the same batches in the same groups without anything around it."""
    spark, shop = session(), Shop(source)
    found: dict[str, Any] = {}
    for one in both:
        order = table_order(1, shop.schema(one.table), folder / one.table)
        for part, numbers in one.parts.items():
            started, n = time.time(), 0
            for first in range(numbers.start, numbers.stop, GROUP):
                group = range(first, min(first + GROUP, numbers.stop))
                n += _upsert(spark, order, one.files(group), is_new=first == 1, part=part)
            found[part] = _figures(started, time.time(), n)
    return {**found, **peaks(spark), "digest": digest(spark, order.location)}


def _figures(started: float, ended: float, n_commits: int) -> dict[str, Any]:
    return {"seconds": round(ended - started, 1), "batches": n_commits}


def _upsert(
    spark: SparkSession, order: TableOrder, files: Sequence[Path], *, is_new: bool, part: str
) -> int:
    """Commit a group; returns 1."""
    row = ", ".join(f"{one.name}: STRING" for one in order.columns)
    shape = f"op STRING, version BIGINT, before STRUCT<{row}>, after STRUCT<{row}>"
    read = spark.read.schema(shape).json([f"file:{file}" for file in files]).where("op IS NOT NULL")
    values = F.coalesce("after", "before")
    typed = [values[one.name].cast(one.type).alias(one.name) for one in order.columns]
    rows = read.select("op", *typed, F.col("version").alias(VERSION))
    # The product has made the newest row of each key one before; here Hudi does it.
    settings = write_settings(order, parallelism=1) | {"hoodie.combine.before.upsert": "true"}
    settings = settings if is_new else evolving(settings)
    if part == "changes":
        deletes = rows.where("op = 'd'").select(*order.key, VERSION)
        _write(deletes, order, settings | UNFINISHED, "delete")
    _write(rows.where("op != 'd'").drop("op"), order, settings, "upsert")
    return 1


def _write(rows: DataFrame, order: TableOrder, settings: dict[str, str], operation: str) -> None:
    settings = settings | {"hoodie.datasource.write.operation": operation}
    rows.write.format("hudi").options(**settings).mode("append").save(order.location)
