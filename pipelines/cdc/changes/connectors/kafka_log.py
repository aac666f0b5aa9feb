"""A changelog in Kafka: a batch is one transaction, so it is read whole or not at all.

    <topic>          changes; key = table and primary key, so one key stays in one partition
    <topic>.headers  one partition: a header a batch, with where its changes are in each partition
    <topic>.schemas  one partition: every schema

The producer's transactional id is the log's topic: whoever writes first after a stale writer shuts
him out, and the broker refuses what he still sends.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from kafka import TopicPartition
from kafka.errors import (
    InvalidProducerEpochError,
    KafkaError,
    ProducerFencedError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
)

from pipelines.cdc.changes.connectors.kafka_client import (
    MOST_BYTES,
    SECONDS,
    KafkaClient,
    records_until,
)
from pipelines.cdc.changes.connectors.kafka_heads import (
    NUMBER,
    RANGES,
    Head,
    HeadReader,
    headers_topic,
    last_head,
)
from pipelines.cdc.changes.domain.changelog import Batch, fenced, trimmed
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.records import Change, Header, decode_change, encode
from pipelines.cdc.changes.domain.schemas import TableSchema

_FOR_EVER = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "cleanup.policy": "delete",
    "max.message.bytes": str(MOST_BYTES),
}
_key = msgspec.json.Encoder(order="deterministic")
_log = logging.getLogger(__name__)


def topics_of(topic: str, *, n_partitions: int = 4) -> dict[str, int]:
    """Return the topics of a changelog, each with how many partitions it is made with."""
    return {topic: n_partitions, headers_topic(topic): 1, f"{topic}.schemas": 1}


class KafkaLog:
    """A changelog of three topics, which are made on the first use and kept until trimmed."""

    def __init__(
        self,
        place: KafkaPlace,
        *,
        password: str = "",
        n_partitions: int = 4,
        connect_seconds: int = 10,
    ) -> None:
        self._client = KafkaClient(place, password=password, connect_seconds=connect_seconds)
        self._name = place.topic
        self._schemas = TopicPartition(f"{place.topic}.schemas", 0)
        self._producer: Any = None
        self._number = 0
        self._known: dict[tuple[str, str, int], TableSchema] = {}
        topics = topics_of(place.topic, n_partitions=n_partitions)
        with self._client.translated(), self._client.admin() as admin:
            there = set(admin.list_topics())
            for topic in topics.keys() - there:
                try:
                    wanted = {"num_partitions": topics[topic], "replication_factor": -1}
                    admin.create_topics(
                        {topic: {**wanted, "configs": _FOR_EVER}}, wait_for_metadata=True
                    )
                except TopicAlreadyExistsError:
                    continue

    def close(self) -> None:
        """End the producer; what was appended stays."""
        if self._producer is not None:
            self._producer.close(timeout=SECONDS)

    def end(self) -> tuple[int, Header] | None:
        """Return number and header of the last batch; None of an empty log."""
        head = last_head(self._client)
        return None if head is None else (head.number, head.header)

    def append(self, number: int, header: Header, changes: Sequence[Change]) -> None:
        """Write a batch; StaleState `cdc.fenced` where the number is not the writer's to write."""
        with self._translated():
            self._claim()
            if number != self._number + 1:
                raise fenced(f"A batch after {self._number}")
            with self._transaction():
                sent = [self._send(self._name, _key_of(one), encode(one)) for one in changes]
                ranges: dict[int, list[int]] = {}
                for one in sent:
                    place = one.get(SECONDS)
                    first, last = ranges.get(place.partition, (place.offset, place.offset))
                    ranges[place.partition] = [min(first, place.offset), max(last, place.offset)]
                told = [(NUMBER, str(number).encode()), (RANGES, json.dumps(ranges).encode())]
                head = self._send(headers_topic(self._name), None, encode(header), told)
                head.get(SECONDS)
        self._number = number

    def read(self, after: int) -> Iterator[Batch]:
        """Yield the batches after a number in order, as far as there are any now."""
        expected = after + 1
        for head in self._heads():
            if head.number < expected:
                continue
            if head.number > expected:
                raise trimmed(expected, head.number)
            changes = [
                decode_change(record.value)
                for partition, span in head.ranges.items()
                for record in self._records(TopicPartition(self._name, partition), span)
            ]
            changes.sort(key=lambda one: one.version)
            yield Batch(head.number, head.header, tuple(changes))
            expected += 1

    def trim(self, before: int) -> int:
        """Remove batches below a number, but never the last; returns how many.

        Headers go last, so that a crash leaves none of a batch whose changes are there. Where the
        brokers do not let it, the retention of the topics alone removes batches.
        """
        doomed = [head for head in self._heads()[:-1] if head.number < before]
        if not doomed:
            return 0
        ends: dict[TopicPartition, int] = {}
        for head in doomed:
            for partition, (_, last) in head.ranges.items():
                ends[TopicPartition(self._name, partition)] = last + 1
        with self._translated(), self._client.admin() as admin:
            try:
                if ends:
                    admin.delete_records(ends)
                headers = TopicPartition(headers_topic(self._name), 0)
                admin.delete_records({headers: doomed[-1].offset + 1})
            except TopicAuthorizationFailedError:
                return 0
        return len(doomed)

    def schema_put(self, schema: TableSchema) -> None:
        """Write a table's schema; the same again does nothing, another is `cdc.fenced`."""
        with self._translated():
            self._claim()
            known = self._known.get((schema.db, schema.table, schema.number))
            if known == schema:
                return
            if known is not None:
                raise fenced(f"Schema {schema.number} of {schema.db}.{schema.table}")
            with self._transaction():
                self._send(self._schemas.topic, None, msgspec.json.encode(schema)).get(SECONDS)
        self._known[schema.db, schema.table, schema.number] = schema

    def schemas(self) -> list[TableSchema]:
        """Return all schemas, by table and number; what is none in their topic is logged."""
        found = []
        for record in self._records(self._schemas):
            try:
                found.append(msgspec.json.decode(record.value or b"", type=TableSchema))
            except msgspec.DecodeError as error:
                _log.warning("%s, offset %d: %s", self._schemas.topic, record.offset, error)
        return sorted(found, key=lambda one: (one.db, one.table, one.number))

    def _claim(self) -> None:
        """Shut every earlier writer out, then look where the log ends; once."""
        if self._producer is not None:
            return
        producer = self._client.producer(self._name)
        producer.init_transactions()
        self._producer = producer
        end = self.end()
        self._number = end[0] if end else 0
        self._known = {(one.db, one.table, one.number): one for one in self.schemas()}

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._producer.begin_transaction()
        try:
            yield
        except KafkaError:
            raise
        except BaseException:
            self._producer.abort_transaction()
            raise
        self._producer.commit_transaction()

    def _send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes,
        told: list[tuple[str, bytes]] | None = None,
    ) -> Any:
        return self._producer.send(topic, key=key, value=value, headers=told)

    def _heads(self) -> list[Head]:
        reader = HeadReader(self._client)
        try:
            return [one for one in reader.more() if isinstance(one, Head)]
        finally:
            reader.close()

    def _records(self, place: TopicPartition, span: tuple[int, int] | None = None) -> Iterator[Any]:
        """Yield the committed records of a partition, as far as there are any now."""
        with self._translated(), self._client.consumer() as consumer:
            consumer.assign([place])
            if span is None:
                consumer.seek_to_beginning(place)
                yield from records_until(consumer, place, consumer.end_offsets([place])[place])
            else:
                consumer.seek(place, span[0])
                yield from records_until(consumer, place, span[1] + 1)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with self._client.translated():
            try:
                yield
            except (ProducerFencedError, InvalidProducerEpochError) as error:
                raise fenced(f"A batch after {self._number}") from error


def _key_of(change: Change) -> bytes:
    return _key.encode([change.db, change.table, change.key])
