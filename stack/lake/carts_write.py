"""Writes the two tables of carts as Hudi's own writer does, one of them until it dies."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from portal.lake.names import TableName
from stack.lake.carts import ILL, SERVED, WRITER

DAYS = 4
ROWS_A_DAY = 1_000
_LAST = 99
_TORN_BYTES = 40
_POLL_SECONDS = 0.002
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Carts:
    """One of the tables in a session with Hudi's catalog; `today` is its newest day."""

    spark: SparkSession
    name: TableName
    today: date

    @property
    def place(self) -> Path:
        """Where it lies; the demo's lake is on this machine."""
        (said,) = (
            row["data_type"]
            for row in self.spark.sql(f"DESCRIBE EXTENDED {self.name}").collect()
            if row["col_name"] == "Location"
        )
        return Path(str(said).removeprefix("file:"))

    def make(self) -> None:
        """Make it with one commit for all its days."""
        said = {"primaryKey": "id", "preCombineField": "ts", "type": "mor", **WRITER[self.name]}
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in said.items())
        self.spark.sql(
            f"CREATE TABLE {self.name} (id BIGINT, n_items INT, total DOUBLE, ts BIGINT, dt STRING)"
            f" USING hudi PARTITIONED BY (dt) TBLPROPERTIES ({properties})"
        )
        self.upsert(range(DAYS), ts=0)

    def upsert(self, ages: range, *, ts: int) -> None:
        """Commit new contents of the carts of some days, named by their ages."""
        options = {
            "hoodie.table.name": self.name.table,
            "hoodie.datasource.write.table.type": "MERGE_ON_READ",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": "dt",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.embed.timeline.server": "false",
            "hoodie.upsert.shuffle.parallelism": "2",
            **WRITER[self.name],
        }
        writer = self._carts(ages, ts=ts).write.format("hudi").options(**options)
        writer.mode("append").save(f"file:{self.place}")

    def schedule(self) -> None:
        """Write a plan of compaction for what is in none yet, as a job of a scheduler may."""
        options = ",".join(f"{key}={said}" for key, said in WRITER[self.name].items())
        self.spark.sql(
            f"CALL run_compaction(op => 'schedule', table => '{self.name}', options => '{options}')"
        )

    def tear_a_log(self) -> None:
        """Cut the end off the newest log of the oldest day, as a disk that fills up does."""
        day = self.place / f"dt={self.today - timedelta(days=DAYS - 1)}"
        logs = [one for one in day.iterdir() if ".log." in one.name and one.suffix != ".crc"]
        newest = max(logs, key=lambda one: one.name.split("_")[1])
        with newest.open("r+b") as log:
            log.truncate(newest.stat().st_size - _TORN_BYTES)
        (day / f".{newest.name}.crc").unlink(missing_ok=True)

    def die_writing(self) -> None:
        """Commit, and kill the session's JVM in the middle of it.

        The session is of no use afterwards.
        """
        context: Any = self.spark.sparkContext
        pid = int(context._jvm.java.lang.ProcessHandle.current().pid())
        timeline = self.place / ".hoodie" / "timeline"
        seen = set(timeline.glob("*.deltacommit.inflight"))

        def is_begun() -> bool:
            return bool(set(timeline.glob("*.deltacommit.inflight")) - seen)

        with killed(pid, when=is_begun):
            try:
                self.upsert(range(DAYS), ts=_LAST)
            except (Py4JError, PySparkException, ConnectionError):
                return

    def _carts(self, ages: range, *, ts: int) -> DataFrame:
        days = ", ".join(f"'{self.today - timedelta(days=age)}'" for age in ages)
        carts = self.spark.range(len(ages) * ROWS_A_DAY)
        return carts.selectExpr(
            f"{min(ages)} * {ROWS_A_DAY} + id AS id",
            f"cast((id + {ts}) % 9 AS int) AS n_items",
            f"round(rand({ts}) * 100, 2) AS total",
            f"cast({ts} AS bigint) AS ts",
            f"element_at(array({days}), cast(id / {ROWS_A_DAY} AS int) + 1) AS dt",
        )


@contextmanager
def killed(pid: int, *, when: Callable[[], bool]) -> Iterator[None]:
    """Kill a process with -9 as soon as something is so; gives up after a minute."""

    def watch() -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            if when():
                os.kill(pid, signal.SIGKILL)
                return
            time.sleep(_POLL_SECONDS)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    thread.join(_PATIENCE_SECONDS)


def make_carts(spark: SparkSession, *, today: date) -> None:
    """Make both tables; the session dies with the writer of the second one."""
    served, ill = Carts(spark, SERVED, today), Carts(spark, ILL, today)
    served.make()
    for ts in range(1, 4):
        served.upsert(range(DAYS), ts=ts)
    ill.make()
    for age in range(DAYS):
        # Each day's file groups wait in a plan of their own: these pile up.
        ill.upsert(range(age, age + 1), ts=age + 1)
        ill.schedule()
    ill.tear_a_log()
    ill.die_writing()
