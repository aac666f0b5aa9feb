"""Tables that writers and services change in all their ways."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

COLUMNS = "id BIGINT, dt STRING, city STRING, qty INT, price DECIMAL(12,2), ts BIGINT"
DAYS = ("d0", "d1", "d2")
CITIES = ("a", "b", "c", None)
Record = tuple[Any, ...]
_SETTINGS = {
    "hoodie.table.name": "rows",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "dt",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.index.type": "GLOBAL_SIMPLE",
    "hoodie.simple.index.update.partition.path": "true",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.simple.index.parallelism": "1",
    "hoodie.global.simple.index.parallelism": "1",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER",
}


@dataclass
class ChangedHudi:
    """A Hudi table by days; rows are (id, dt, city, qty, price, ts)."""

    spark: SparkSession
    place: Path
    kind: str = "COPY_ON_WRITE"
    is_logged: bool = False
    _n: int = field(default=0, init=False)

    @property
    def location(self) -> str:
        return f"file:{self.place}"

    def write(self, rows: Iterable[Record], operation: str = "upsert", **settings: str) -> None:
        """Commit rows of five values; the sixth is the number of the commit."""
        self._n += 1
        frame = self.spark.createDataFrame([(*row, self._n) for row in rows], COLUMNS)
        self.write_frame(frame, operation, **settings)

    def write_frame(self, frame: DataFrame, operation: str = "upsert", **settings: str) -> None:
        """Commit rows of any columns."""
        said = {
            **_SETTINGS,
            "hoodie.datasource.write.table.type": self.kind,
            "hoodie.table.cdc.enabled": str(self.is_logged).lower(),
            "hoodie.datasource.write.operation": operation,
            **{key.replace("__", "."): text for key, text in settings.items()},
        }
        frame.coalesce(1).write.format("hudi").options(**said).mode("append").save(self.location)

    def delete(self, ids: Sequence[int]) -> None:
        there = [row[:5] for row in self.rows() if row[0] in ids]
        if there:
            self.write(there, "delete")

    def cluster(self, rows: Sequence[Record]) -> None:
        """Upsert, and cluster at once."""
        self.write(
            rows,
            **{"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
        )

    def compact(self, rows: Sequence[Record]) -> None:
        """Upsert, and compact at once."""
        self.write(
            rows,
            **{"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
        )

    def delete_partition(self, day: str) -> None:
        self.write(
            [(0, day, None, None, None)],
            "delete_partition",
            hoodie__datasource__write__partitions__to__delete=f"dt={day}",
        )

    def clean(self, rows: Sequence[Record], *, keeping: int) -> None:
        """Upsert, and clean what no read at the newest commits needs."""
        self.write(
            rows,
            **{
                "hoodie.clean.automatic": "true",
                "hoodie.clean.async.enabled": "false",
                "hoodie.clean.commits.retained": str(keeping),
            },
        )

    def roll_back(self) -> None:
        """Undo the newest commit."""
        with self._client() as client:
            assert client.rollback(self.instants()[-1])

    def compact_all(self) -> None:
        """Merge all log files, and change no row."""
        jvm: Any = self.spark.sparkContext._jvm
        nothing = jvm.org.apache.hudi.common.util.Option.empty()
        with self._client() as client:
            instant = client.scheduleCompaction(nothing).get()
            client.compact(instant, True)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        jvm: Any = self.spark.sparkContext._jvm
        hudi = jvm.org.apache.hudi
        compaction = hudi.config.HoodieCompactionConfig.newBuilder()
        settings = (
            hudi.config.HoodieWriteConfig.newBuilder()
            .withPath(self.location)
            .withEmbeddedTimelineServerEnabled(False)
            .withMetadataConfig(
                hudi.common.config.HoodieMetadataConfig.newBuilder().enable(False).build()
            )
            .withCompactionConfig(compaction.withMaxNumDeltaCommitsBeforeCompaction(1).build())
            .build()
        )
        engine = hudi.client.common.HoodieSparkEngineContext(self.spark._jsc)
        client = hudi.client.SparkRDDWriteClient(engine, settings)
        try:
            yield client
        finally:
            client.close()

    def begin_before_the_last(self) -> None:
        """Leave a commit that was begun just before the newest one and is not done."""
        before = str(int(self.instants()[-1]) - 1)
        timeline = self.place / ".hoodie" / "timeline"
        for state in ("commit.requested", "inflight"):
            (timeline / f"{before}.{state}").touch()

    def instants(self) -> list[str]:
        """Return completed commits, oldest first."""
        names = (one.name for one in (self.place / ".hoodie" / "timeline").iterdir())
        done = (one.partition("_")[0] for one in names if one.endswith(("commit",)) and "_" in one)
        return sorted(done)

    def rows(self) -> list[Row]:
        frame = self.spark.read.format("hudi").load(self.location)
        return sorted(
            frame.select("id", "dt", "city", "qty", "price", "ts").collect(), key=lambda row: row[0]
        )


def some_rows(random: Random, n: int, *, most: int = 40) -> list[Record]:
    """Return rows of distinct ids."""
    from decimal import Decimal

    return [
        (
            number,
            random.choice(DAYS),
            random.choice(CITIES),
            random.choice((None, *range(-3, 9))),
            random.choice((None, *(Decimal(random.randrange(-900, 900)) / 100 for _ in range(4)))),
        )
        for number in random.sample(range(most), n)
    ]
