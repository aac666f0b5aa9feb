"""Hudi tables of a metastore with a materialization of them, for engines that read both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from pipelines.materialized.domain.messages import RESULTS, Order, Refreshed, Request
from pipelines.materialized.jobs import materialize
from portal.connectors.lake_config import LakeConfig
from portal.spark.job import JobContext
from tests.support.changed_tables import ChangedHudi
from tests.support.materialized_tables import BY_CHANGES
from tests.support.scan_spark import activate, job_for

SYNC = "hoodie.datasource.hive_sync"
ORDERS = (
    "id BIGINT, dt STRING, sold_on DATE, shop INT, buyer INT, qty INT, price DECIMAL(12,2), "
    "note STRING, ts BIGINT"
)
ORDER_COLUMNS = tuple(one.split()[0] for one in ORDERS.replace("(12,2)", "").split(", "))
SHOPS = "id BIGINT, dt STRING, town STRING, size INT, ts BIGINT"
TOWNS = ("ash", "beech", None, "d'oak")
KEPT_SQL = """
SELECT f.dt, f.sold_on, f.note, s.town, count(*) AS n, count(f.qty) AS n_qty, sum(f.qty) AS qty,
  avg(f.qty) AS mean_qty, sum(f.price) AS price, avg(f.price) AS mean, min(f.qty) AS low,
  max(f.price) AS high, min(f.sold_on) AS first_on, max(f.note) AS last_note
FROM {db}.orders f JOIN {db}.shops s ON f.shop = s.id
WHERE f.id >= 0 GROUP BY f.dt, f.sold_on, f.note, s.town
"""
BUYERS_SQL = """
SELECT dt, note, count(*) AS n, count(DISTINCT buyer) AS buyers, count(DISTINCT sold_on) AS days
FROM {db}.orders GROUP BY dt, note
"""
OrderRow = tuple[Any, ...]


def some_orders(random: Random, ids: Iterable[int]) -> list[OrderRow]:
    """Return orders with every kind of NULL."""
    return [
        (
            n,
            f"2026-05-0{random.randrange(1, 4)}",
            random.choice((None, *(date(2026, 5, 1) + timedelta(d) for d in range(4)))),
            random.choice((None, 0, 1, 2, 3, 9)),
            random.choice((None, *range(6))),
            random.choice((None, *range(-3, 9))),
            random.choice((None, *(Decimal(random.randrange(-90_000, 90_000)) / 100,) * 4)),
            random.choice((None, "", "a", "it's", "ß")),
        )
        for n in ids
    ]


@dataclass
class HudiShop:
    """Orders and shops of one database; `version` is the table version of all its tables."""

    spark: SparkSession
    config: LakeConfig
    db: str
    root: Path
    version: int
    kind: str = "COPY_ON_WRITE"
    _n: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.config = replace(self.config, materialization_table_version=self.version)
        activate(self.spark)

    def _table(self, name: str, kind: str) -> ChangedHudi:
        return ChangedHudi(self.spark, self.root / self.db / name, kind)

    @cached_property
    def orders(self) -> ChangedHudi:
        """The facts."""
        return self._table("orders", self.kind)

    @cached_property
    def shops(self) -> ChangedHudi:
        """What they are joined to."""
        return self._table("shops", "COPY_ON_WRITE")

    def write(self, rows: Iterable[OrderRow]) -> None:
        """Upsert orders."""
        self._n += 1
        frame = self.spark.createDataFrame([(*row, self._n) for row in rows], ORDERS)
        self.orders.write_frame(frame, **self.settings("orders"))

    def orders_of(self, ids: Iterable[int]) -> DataFrame:
        """Return some orders as they are, to be changed or deleted."""
        read = self.spark.read.format("hudi").load(self.orders.location)
        found = read.where(read["id"].isin(*ids)).select(*ORDER_COLUMNS).collect()
        return self.spark.createDataFrame(found, ORDERS)

    def change_buyers(self) -> None:
        """Update orders and insert none, which a merge-on-read table has in log files."""
        self._n += 1
        kept = [name for name in ORDER_COLUMNS if name not in ("buyer", "ts")]
        changed = self.orders_of(range(30)).selectExpr(
            *kept, "CAST(id + 100 AS INT) AS buyer", f"CAST({self._n} AS BIGINT) AS ts"
        )
        self.orders.write_frame(changed.select(*ORDER_COLUMNS), **self.settings("orders"))

    def write_shops(self) -> None:
        """Write the four shops."""
        rows = [(n, "all", town, n * 10, 0) for n, town in enumerate(TOWNS)]
        frame = self.spark.createDataFrame(rows, SHOPS)
        self.shops.write_frame(frame, **self.settings("shops"))

    def write_plain(self, name: str, columns: Mapping[str, str], rows: list[OrderRow]) -> None:
        """Write a table without keys and partitions."""
        declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        frame = self.spark.createDataFrame(rows, declared).coalesce(1)
        said = {
            "hoodie.table.name": name,
            "hoodie.write.table.version": str(self.version),
            "hoodie.datasource.write.operation": "bulk_insert",
            "hoodie.metadata.enable": "false",
            "hoodie.embed.timeline.server": "false",
            **self._sync(name),
            f"{SYNC}.partition_extractor_class": "org.apache.hudi.hive.NonPartitionedExtractor",
        }
        place = f"file:{self.root / self.db / name}"
        frame.write.format("hudi").options(**said).mode("append").save(place)

    def settings(self, name: str) -> dict[str, str]:
        """Return what a write of one of the two says besides its rows."""
        return {
            "hoodie.table.name": name,
            "hoodie.write.table.version": str(self.version),
            **self._sync(name),
            f"{SYNC}.partition_fields": "dt",
            f"{SYNC}.partition_extractor_class": "org.apache.hudi.hive.MultiPartKeysValueExtractor",
        }

    def _sync(self, name: str) -> dict[str, str]:
        return {
            f"{SYNC}.enable": "true",
            f"{SYNC}.mode": "hms",
            f"{SYNC}.metastore.uris": self.config.metastore_uri,
            f"{SYNC}.database": self.db,
            f"{SYNC}.table": name,
            f"{SYNC}.skip_ro_suffix": "true",
        }

    def refresh(self, name: str, sql: str, *, seconds_ago: int = 0) -> Refreshed:
        """Refresh the table of a materialization by the product's program."""
        place = f"file:{self.root / self.db / name}"
        order = Order(1, sql.format(db=self.db), self.db, name, place, "me", past=BY_CHANGES)
        params = {materialize.REQUEST: msgspec.to_builtins(Request((order,)))}
        now = datetime.now(UTC) - timedelta(seconds=seconds_ago)
        job: JobContext = job_for(self.spark, self.config, params, now=now)
        materialize.run(self.spark, job)
        said = job.spool.fs.read(job.spool.results.child(RESULTS, "1.json"))
        done = msgspec.json.decode(said, type=Refreshed)
        assert done.state == "done", done.reason
        return done
