"""Batches of a changelog in Kafka: headers by the driver, changes by Spark.

A record between two batches is nobody's: it is given with the next batch, as foreign, so that it is
kept aside and not passed over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.jobs.reading.batches import FOREIGN
from pipelines.cdc.applying.jobs.reading.kafka_reads import (
    Ranges,
    check_kafka,
    check_there,
    kafka_rows,
)
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.connectors.kafka_heads import Head, HeadReader, Stray, headers_topic
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace

_LINE = "number BIGINT, value STRING, topic STRING, partition INT, offset BIGINT"
_SPAN = "number BIGINT, partition INT, first BIGINT, last BIGINT"


@dataclass
class KafkaBatches:
    """The batches that `KafkaLog` writes."""

    spark: SparkSession
    place: KafkaPlace
    password: str
    keeps_bad: bool = True
    _heads: dict[int, Head] = field(default_factory=dict)
    _since: dict[int, Mapping[int, int]] = field(default_factory=dict)
    """Of each batch and partition: the offset after the last of the batches before."""
    _strays: list[Stray] = field(default_factory=list)
    _ends: dict[int, int] = field(default_factory=dict)
    _last_offset: int = -1

    def __post_init__(self) -> None:
        check_kafka(self.spark)
        self._client = KafkaClient(self.place, password=self.password)
        self._reader = HeadReader(self._client)

    def numbers(self) -> list[int]:
        """Return the numbers of the batches that are there, in order."""
        for one in self._reader.more():
            if one.offset <= self._last_offset:
                continue  # it is read again after the broker was away
            self._last_offset = one.offset
            if isinstance(one, Stray):
                self._strays.append(one)
                continue
            self._heads[one.number] = one
            self._since[one.number] = {
                partition: self._ends.get(partition, 0) for partition in one.ranges
            }
            self._ends |= {partition: last + 1 for partition, (_, last) in one.ranges.items()}
        return sorted(self._heads)

    def lines(self, numbers: Sequence[int]) -> DataFrame:
        """Return the lines of some batches, and what nobody wrote as one of them."""
        heads = [self._heads[number] for number in numbers]
        said = [(head.number, head.line.decode(), None, None, None) for head in heads]
        topic = headers_topic(self.place.topic)
        strays = [
            (FOREIGN, one.value.decode(errors="replace"), topic, 0, one.offset)
            for one in self._strays
        ]
        lines = self.spark.createDataFrame([*said, *strays], _LINE)
        ranges = self._ranges(heads)
        if not ranges:
            return lines
        spans = self.spark.createDataFrame(
            [(h.number, place, *span) for h in heads for place, span in h.ranges.items()], _SPAN
        )
        rows = kafka_rows(self.spark, self.place, ranges, password=self.password).alias("r")
        is_within = F.expr("r.partition = s.partition AND r.offset BETWEEN s.first AND s.last")
        found = rows.join(F.broadcast(spans.alias("s")), is_within, "left").select(
            F.coalesce("s.number", F.lit(FOREIGN)).cast("bigint").alias("number"),
            F.col("r.value").cast("string").alias("value"),
            "r.topic",
            "r.partition",
            "r.offset",
        )
        return lines.unionByName(found)

    def told(self) -> Mapping[str, int]:
        """Know nothing more than a changelog of files."""
        return {}

    def forget(self, number: int) -> None:
        """Forget the batches up to a number, which every table has."""
        for one in [one for one in self._heads if one <= number]:
            del self._heads[one], self._since[one]
        self._strays.clear()

    def close(self) -> None:
        """Let go of the consumer."""
        self._reader.close()

    def _ranges(self, heads: Sequence[Head]) -> Ranges:
        firsts: dict[tuple[str, int], int] = {}
        since: dict[tuple[str, int], int] = {}
        ends: dict[tuple[str, int], int] = {}
        for head in heads:
            for partition, (first, last) in head.ranges.items():
                place = self.place.topic, partition
                firsts.setdefault(place, first)
                since.setdefault(place, self._since[head.number][partition])
                ends[place] = last + 1
        earliest = check_there(self._client, firsts)
        return {place: (max(since[place], earliest[place]), ends[place]) for place in firsts}
