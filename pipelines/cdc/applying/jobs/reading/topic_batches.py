"""Batches of plain topics: cut here, and kept as offsets in a changelog of files without changes.

A batch's offsets are durable before anything of it is applied, so it is the same batch however
often it is read. Its records become changes of `changes.domain.records` on the way: whatever holds
of a captured table then holds of a topic's.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka import TopicPartition
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.messages import PipelineOrder
from pipelines.cdc.applying.domain.topics import (
    DB,
    KEY,
    TAKEN,
    Offsets,
    cut,
    first_schema,
    lake_types,
    next_schema,
    offsets_of,
    offsets_text,
    text_sql,
)
from pipelines.cdc.applying.jobs.reading.batches import FOREIGN
from pipelines.cdc.applying.jobs.reading.kafka_reads import (
    Ranges,
    check_kafka,
    check_there,
    expired,
    kafka_rows,
)
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace, topics_there
from pipelines.cdc.changes.domain.records import Header, encode
from pipelines.cdc.changes.domain.schemas import TableSchema

_LINE = "number BIGINT, value STRING, topic STRING, partition INT, offset BIGINT"
_SPAN = "number BIGINT, topic STRING, partition INT, first BIGINT, end BIGINT"
_LOOK_SECONDS = 1.0


@dataclass
class TopicBatches:
    """The batches of one pipeline of topics; `log` has their offsets and the schemas."""

    spark: SparkSession
    order: PipelineOrder
    place: KafkaPlace
    password: str
    log: DirectoryLog
    keeps_bad: bool = True
    n_behind: int = 0
    """Records in Kafka that no batch has yet."""
    newest_ms: int = 0
    """Kafka's timestamp of the newest record that was read."""
    _done: Offsets = field(default_factory=dict)
    _last: int = 0
    _looked_at: float = float("-inf")
    _held: DataFrame | None = None

    def __post_init__(self) -> None:
        check_kafka(self.spark)
        self._client = KafkaClient(self.place, password=self.password)
        self._schemas: dict[str, list[TableSchema]] = {}
        for schema in self.log.schemas():
            self._schemas.setdefault(schema.table, []).append(schema)
        if end := self.log.end():
            self._last, self._done = end[0], offsets_of(end[1].end)

    def numbers(self) -> list[int]:
        """Return the numbers of the batches, after one more where records have come."""
        if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._cut()
        return self.log.numbers()

    def lines(self, numbers: Sequence[int]) -> DataFrame:
        """Return the records of some batches as lines, those that are no JSON object as foreign."""
        kept = {number: self.log.header(number) for number in numbers}
        spans = [
            (number, topic, partition, first, offsets_of(head.end)[topic][partition])
            for number, head in kept.items()
            for topic, places in offsets_of(head.begin).items()
            for partition, first in places.items()
        ]
        ranges = _ranges(spans)
        check_there(self._client, {place: first for place, (first, _) in ranges.items()})
        rows = kafka_rows(self.spark, self.place, ranges, password=self.password)
        self._held = rows = self._fields(rows, spans).persist()
        self._learn(rows, numbers[-1])
        lines = self._lines(rows)
        counted = rows.where("fields IS NOT NULL").groupBy("number").count().collect()
        n_of = {int(row["number"]): int(row["count"]) for row in counted}
        newest = rows.agg(F.max("timestamp").cast("double").alias("at")).collect()[0]["at"]
        self.newest_ms = int((newest or 0) * 1000) or self.newest_ms
        heads = [self._line(number, head, n_of.get(number, 0)) for number, head in kept.items()]
        return self.spark.createDataFrame(heads, _LINE).unionByName(lines)

    def told(self) -> Mapping[str, int]:
        """Say how far the topics are read."""
        n_read = sum(sum(places.values()) for places in self._done.values())
        return {"n_behind": self.n_behind, "n_read": n_read, "newest_at": self.newest_ms}

    def forget(self, number: int) -> None:
        """Let go of what was read for the batches up to a number."""
        if self._held is not None:
            self._held.unpersist()
            self._held = None

    def close(self) -> None:
        """Let go of what was read."""
        self.forget(self._last)

    def _cut(self) -> None:
        there = self._there()
        for (topic, partition), (first, end) in there.items():
            done = self._done.get(topic, {}).get(partition, first)
            if first <= done <= end:
                continue
            # Beyond its end is a topic that was deleted and made again.
            if self.order.first_batch <= self._last:
                raise expired(topic, partition, done, first)
            # Somebody reloaded the pipeline: it goes on with what there is.
            self._done[topic][partition] = first
        most = self.order.topics.most_records if self.order.topics else 1
        begins, ends = cut(self._done, there, most=most)
        if begins:
            now = time.time_ns() // 1_000_000
            header = Header(DB, 0, offsets_text(begins), offsets_text(ends), now, 0)
            self.log.append(self._last + 1, header, ())
            self._last, self._done = self._last + 1, ends
        self.n_behind = sum(
            end - self._done.get(topic, {}).get(partition, end)
            for (topic, partition), (_, end) in there.items()
        )

    def _there(self) -> dict[tuple[str, int], tuple[int, int]]:
        patterns = self.order.topics.patterns if self.order.topics else ()
        with self._client.translated(), self._client.consumer() as consumer:
            places = [
                TopicPartition(topic, partition)
                for topic in topics_there(consumer.topics(), patterns)
                for partition in consumer.partitions_for_topic(topic) or ()
            ]
            if not places:
                return {}
            firsts, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
        return {(one.topic, one.partition): (firsts[one], ends[one]) for one in places}

    def _fields(self, rows: DataFrame, spans: Sequence[tuple[Any, ...]]) -> DataFrame:
        """Add the number of the batch, and the fields of a JSON object as texts."""
        within = "r.topic = s.topic AND r.partition = s.partition"
        is_within = F.expr(f"{within} AND r.offset >= s.first AND r.offset < s.end")
        known = self.spark.createDataFrame(list(spans), _SPAN).alias("s")
        text = F.col("value").cast("string")
        is_object = F.json_object_keys(text).isNotNull()
        fields = F.when(is_object, F.from_json(text, "MAP<STRING, STRING>"))
        joined = rows.alias("r").join(F.broadcast(known), is_within).select("s.number", "r.*")
        return joined.withColumn("text", text).withColumn("fields", fields)

    def _learn(self, rows: DataFrame, number: int) -> None:
        """Write the schemas that topics and fields which nobody has seen yet need."""
        names = F.explode(F.coalesce(F.map_keys("fields"), F.array(F.lit("")))).alias("name")
        found = rows.select("topic", names).distinct().collect()
        for topic in sorted({row["topic"] for row in found}):
            known = self._schemas.setdefault(topic, [])
            if not known and self.order.topics:
                self._put(first_schema(topic, self.order.topics.columns))
            has = set(known[-1].names)
            fields = {row["name"] for row in found if row["topic"] == topic and row["name"]}
            if new := fields - has - set(TAKEN):
                self._put(next_schema(known[-1], new, version=number))

    def _put(self, schema: TableSchema) -> None:
        self.log.schema_put(schema)
        self._schemas[schema.table].append(schema)

    def _lines(self, rows: DataFrame) -> DataFrame:
        topics = {row["topic"] for row in rows.select("topic").distinct().collect()}
        number = F.when(F.col("fields").isNull(), FOREIGN).otherwise(F.col("number"))
        value = F.col("text")
        for topic in sorted(topics):
            line = F.to_json(_record(self._schemas[topic]), {"ignoreNullFields": "true"})
            is_one = (F.col("topic") == topic) & F.col("fields").isNotNull()
            value = F.when(is_one, line).otherwise(value)
        return rows.select(
            number.cast("bigint").alias("number"),
            value.alias("value"),
            "topic",
            "partition",
            "offset",
        )

    def _line(self, number: int, kept: Header, n: int) -> tuple[Any, ...]:
        header = Header(kept.source, 0, kept.begin, kept.end, self.newest_ms or kept.at, n)
        return number, encode(header).decode(), None, None, None


def _record(schemas: Sequence[TableSchema]) -> Column:
    """Return the change that a record of a topic is, under the first schema that has its fields."""
    newest, own = schemas[-1], set(TAKEN)
    names = F.map_keys("fields")
    number = F.lit(newest.number)
    for schema in reversed(schemas[:-1]):
        known = F.array(*(F.lit(name) for name in sorted(own | set(schema.names))))
        number = F.when(F.size(F.array_except(names, known)) == 0, schema.number).otherwise(number)
    texts = {name: _text(name, kind) for name, kind in lake_types(newest.columns).items()}
    return F.struct(
        F.lit(DB).alias("db"),
        F.col("topic").alias("table"),
        F.lit("c").alias("op"),
        F.col("number").alias("version"),
        _map({name: texts[name] for name in KEY}).alias("key"),
        number.alias("schema"),
        F.concat_ws(":", "topic", "partition", "offset").alias("position"),
        (F.col("timestamp").cast("double") * 1000).cast("bigint").alias("at"),
        _map(texts).alias("after"),
    )


def _text(name: str, kind: str) -> Column:
    match name:
        case "kafka_topic" | "kafka_partition" | "kafka_offset":
            return F.col(name.removeprefix("kafka_")).cast("string")
        case "kafka_timestamp":
            return F.date_format("timestamp", "yyyy-MM-dd HH:mm:ss.SSSSSS")
        case "kafka_key":
            return F.col("key").cast("string")
        case "kafka_headers":
            pair = "x -> struct(x.key AS key, CAST(x.value AS STRING) AS value)"
            return F.to_json(F.expr(f"transform(headers, {pair})"))
    scale = int(kind.rpartition(",")[2].rstrip(")")) if kind.startswith("decimal") else 0
    shape = f"STRUCT<{_quoted(name)} DECIMAL(38,{min(37, max(18, scale + 1))})>"
    number = f"from_json(text, '{shape}').{_quoted(name)}"
    return F.expr(text_sql(name, kind, "fields", number))


def _map(texts: dict[str, Column]) -> Column:
    return F.create_map(*(one for name, text in texts.items() for one in (F.lit(name), text)))


def _ranges(spans: Sequence[tuple[Any, ...]]) -> Ranges:
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for _, topic, partition, first, end in spans:
        begin, last = found.get((topic, partition), (first, end))
        found[topic, partition] = min(begin, first), max(last, end)
    return found


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``").replace("'", "\\'") + "`"
