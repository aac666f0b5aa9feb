"""A changelog in Kafka: a batch is one transaction, so it is read whole or not at all.

    <name>          changes; key = table and primary key, so one key stays in one partition
    <name>.headers  one partition: a header a batch, with where its changes lie in each partition
    <name>.schemas  one partition: every schema

The producer's transactional id is the log's name: whoever writes first after a stale writer shuts
him out, and the broker refuses what he still sends.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import (
    InvalidProducerEpochError,
    KafkaError,
    ProducerFencedError,
    TopicAlreadyExistsError,
)

from pipelines.cdc.changes.domain.changelog import Batch, fenced, trimmed
from pipelines.cdc.changes.domain.records import (
    Change,
    Header,
    decode_change,
    decode_header,
    encode,
)
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.lake.errors import ExternalFailure, PortalError

_FOR_EVER = {"retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "134217728"}
_MOST_BYTES = 128 << 20
_SECONDS = 30
_NUMBER, _RANGES = "number", "ranges"
_key = msgspec.json.Encoder(order="deterministic")


class KafkaLog:
    """A changelog of three topics, which are made on the first use and kept until trimmed."""

    def __init__(
        self, servers: str, name: str, *, n_partitions: int = 4, connect_seconds: int = 10
    ) -> None:
        self._servers = servers
        self._where = {
            "bootstrap_servers": servers,
            "bootstrap_timeout_ms": connect_seconds * 1000,
        }
        self._name = name
        self._headers = TopicPartition(f"{name}.headers", 0)
        self._schemas = TopicPartition(f"{name}.schemas", 0)
        self._producer: Any = None
        self._number = 0
        self._known: dict[tuple[str, str, int], TableSchema] = {}
        topics = {name: n_partitions, self._headers.topic: 1, self._schemas.topic: 1}
        with self._translated(), self._admin() as admin:
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
            self._producer.close(timeout=_SECONDS)

    def end(self) -> tuple[int, Header] | None:
        """Return number and header of the last batch; None of an empty log."""
        last = None
        for number, header, _ in self._heads(last_only=True):
            last = number, header
        return last

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
                    place = one.get(_SECONDS)
                    first, last = ranges.get(place.partition, (place.offset, place.offset))
                    ranges[place.partition] = [min(first, place.offset), max(last, place.offset)]
                told = [(_NUMBER, str(number).encode()), (_RANGES, json.dumps(ranges).encode())]
                head = self._send(self._headers.topic, None, encode(header), told)
                head.get(_SECONDS)
        self._number = number

    def read(self, after: int) -> Iterator[Batch]:
        """Yield the batches after a number in order, as far as there are any now."""
        expected = after + 1
        for number, header, ranges in self._heads():
            if number < expected:
                continue
            if number > expected:
                raise trimmed(expected, number)
            changes = [one for place, span in ranges.items() for one in self._changes(place, *span)]
            changes.sort(key=lambda one: one.version)
            yield Batch(number, header, tuple(changes))
            expected += 1

    def trim(self, before: int) -> int:
        """Remove batches below a number, but never the last; returns how many.

        Headers go last, so that a crash leaves none of a batch whose changes are there.
        """
        heads = list(self._heads(with_offsets=True))
        doomed = [one for one in heads[:-1] if one[0] < before]
        if not doomed:
            return 0
        ends: dict[TopicPartition, int] = {}
        for _, _, ranges in doomed:
            for place, (_, last) in ranges.items():
                if place >= 0:
                    ends[TopicPartition(self._name, place)] = last + 1
        with self._translated(), self._admin() as admin:
            if ends:
                admin.delete_records(ends)
            admin.delete_records({self._headers: doomed[-1][2][-1][1] + 1})
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
                self._send(self._schemas.topic, None, msgspec.json.encode(schema)).get(_SECONDS)
        self._known[schema.db, schema.table, schema.number] = schema

    def schemas(self) -> list[TableSchema]:
        """Return all schemas, by table and number."""
        found = [
            msgspec.json.decode(record.value, type=TableSchema)
            for record in self._records(self._schemas)
        ]
        return sorted(found, key=lambda one: (one.db, one.table, one.number))

    def _claim(self) -> None:
        """Shut every earlier writer out, then look where the log ends; once."""
        if self._producer is not None:
            return
        producer = KafkaProducer(
            **self._where,
            transactional_id=self._name,
            acks="all",
            max_request_size=_MOST_BYTES,
            linger_ms=5,
        )
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

    def _heads(
        self, *, last_only: bool = False, with_offsets: bool = False
    ) -> Iterator[tuple[int, Header, dict[int, list[int]]]]:
        """Yield headers with the places of their changes; place -1 is the header's own."""
        found = None
        for record in self._records(self._headers):
            if last_only:
                found = record
                continue
            yield _head(record, with_offsets=with_offsets)
        if found is not None:
            yield _head(found, with_offsets=with_offsets)

    def _changes(self, partition: int, first: int, last: int) -> Iterator[Change]:
        place = TopicPartition(self._name, partition)
        for record in self._records(place, first=first, last=last):
            yield decode_change(record.value)

    def _records(
        self, place: TopicPartition, *, first: int | None = None, last: int | None = None
    ) -> Iterator[Any]:
        """Yield the committed records of a partition, as far as there are any now."""
        with self._translated():
            consumer = KafkaConsumer(
                **self._where,
                isolation_level="read_committed",
                enable_auto_commit=False,
                fetch_max_bytes=_MOST_BYTES,
                max_partition_fetch_bytes=_MOST_BYTES,
            )
            try:
                consumer.assign([place])
                if first is None:
                    consumer.seek_to_beginning(place)
                else:
                    consumer.seek(place, first)
                stop = consumer.end_offsets([place])[place] if last is None else last + 1
                while consumer.position(place) < stop:
                    polled = consumer.poll(timeout_ms=1000)
                    for record in polled.get(place, ()):
                        if record.offset < stop:
                            yield record
            finally:
                consumer.close()

    def _admin(self) -> Any:
        return KafkaAdminClient(**self._where)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PortalError:
            raise
        except (ProducerFencedError, InvalidProducerEpochError) as error:
            raise fenced(f"A batch after {self._number}") from error
        except KafkaError as error:
            raise ExternalFailure(
                "cdc.kafka",
                f"Kafka at {self._servers} failed for {self._name}: {error}.",
                service="kafka",
                retryable=True,
            ) from error


def _key_of(change: Change) -> bytes:
    return _key.encode([change.db, change.table, change.key])


def _head(record: Any, *, with_offsets: bool) -> tuple[int, Header, dict[int, list[int]]]:
    told = dict(record.headers)
    ranges = {int(place): span for place, span in json.loads(told[_RANGES]).items()}
    if with_offsets:
        ranges[-1] = [record.offset, record.offset]
    return int(told[_NUMBER]), decode_header(record.value), ranges
