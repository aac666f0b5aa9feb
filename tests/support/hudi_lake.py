"""Hudi tables that Spark's own writer makes below a folder, without a metastore.

A commit costs Hudi a second, so a table is written once and copied: what it names, it names by
paths below itself.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.jobs.snapshot import Asked, look_at
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table
from tests.support.scan_lake import NOW

Row = tuple[int, str, str, int]
COLUMNS = "id BIGINT, dt STRING, word STRING, ts BIGINT"
_ALONE = {
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.metadata.enable": "false",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.simple.index.parallelism": "1",
}


@dataclass(frozen=True)
class HudiTable:
    """One table: columns id (its key), dt, word and ts (which row of a key wins).

    `uri` is its file system's; what looks at paths of the machine is for local tables alone.
    """

    spark: SparkSession
    place: Path
    is_logged: bool = True
    by: str = "dt"
    uri: str = "file:"

    @property
    def location(self) -> str:
        return f"{self.uri}{self.place}"

    @property
    def timeline(self) -> Path:
        return self.place / ".hoodie" / "timeline"

    @property
    def opened(self) -> OpenedTable:
        return open_table(self.spark, f"hudi.{self.place.name}", self.location, lake_zone=UTC)

    def upsert(self, rows: Sequence[Row], settings: Mapping[str, str] | None = None) -> None:
        """Write the rows as one commit, with no service beside it but for what is set."""
        written = {
            "hoodie.table.name": "rows",
            "hoodie.datasource.write.table.type": (
                "MERGE_ON_READ" if self.is_logged else "COPY_ON_WRITE"
            ),
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": self.by,
            "hoodie.datasource.write.hive_style_partitioning": "true",
            **_ALONE,
            **(settings or {}),
        }
        frame = self.spark.createDataFrame(list(rows), COLUMNS).coalesce(1)
        frame.write.format("hudi").options(**written).mode("append").save(self.location)

    @contextmanager
    def locked(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Hold the table's lock as a writer with these settings holds it."""
        table = self.opened
        jvm = table.jvm
        held = jvm.java.util.Properties()
        for key, value in {**settings, "hoodie.base.path": self.location}.items():
            held.setProperty(key, value)
        of = table.hudi
        provider = of.client.transaction.lock.FileSystemBasedLockProvider(
            of.common.config.LockConfiguration(held), table.java.getStorageConf()
        )
        assert provider.tryLock(1, jvm.java.util.concurrent.TimeUnit.SECONDS)
        try:
            yield
        finally:
            provider.unlock()
            provider.close()

    def rows(self, *, only_base_files: bool = False) -> list[tuple[Any, ...]]:
        """Return the rows in order, as a snapshot reader sees them or a read-optimized one."""
        kind = "read_optimized" if only_base_files else "snapshot"
        found = (
            self.spark.read.format("hudi")
            .option("hoodie.datasource.query.type", kind)
            .load(self.location)
            .select("id", "dt", "word", "ts")
            .collect()
        )
        return sorted(tuple(row) for row in found)

    def look(self, **asked: bool) -> HudiInspection:
        return look_at(self.opened, Asked(**asked), now=NOW)

    def copied(self, place: Path) -> "HudiTable":
        """Return the same table at another place."""
        shutil.copytree(self.place, place)
        return HudiTable(self.spark, place, self.is_logged, self.by)

    def damage(self, path: Path, content: bytes) -> None:
        """Give a file another content, and forget the checksum that lies beside it."""
        path.write_bytes(content)
        (path.parent / f".{path.name}.crc").unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Return its files of data, whether a commit knows them or not."""
        found = (*self.place.rglob("*.parquet"), *self.logs())
        return sorted(path for path in found if ".hoodie" not in path.parts)

    def logs(self) -> list[Path]:
        """Return its log files, those written first coming first."""
        found = (one for one in self.place.rglob(".*.log.*") if not one.name.endswith(".crc"))
        return sorted(found, key=lambda one: (one.name.split("_")[1], str(one)))


def written(table: HudiTable, n: int, *, n_rows: int = 6) -> list[Row]:
    """Upsert the same keys of two days `n` times; returns the rows that then stand there."""
    rows: list[Row] = []
    for k in range(n):
        rows = [(i, f"2026-05-0{1 + i % 2}", f"w{k}.{i}", k) for i in range(n_rows)]
        table.upsert(rows)
    return rows
