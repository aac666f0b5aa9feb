"""Reads the headers of a changelog in Kafka: which batches there are, and where their changes are.

Whatever else is in the topic of headers is told as a stray, so that nobody passes it over.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka import TopicPartition

from pipelines.cdc.changes.connectors.kafka_client import KafkaClient, records_until
from pipelines.cdc.changes.domain.records import Header, decode_header
from portal.lake.errors import PortalError

NUMBER, RANGES = "number", "ranges"
_LOOK_BACK = 16
"""Offsets of the topic of headers that are read first for the last one; then eight times more."""


@dataclass(frozen=True, slots=True)
class Head:
    """The header of one batch."""

    number: int
    line: bytes
    ranges: Mapping[int, tuple[int, int]]
    """Of each partition: the first and the last offset of the batch's changes."""
    offset: int
    """Its own."""

    @property
    def header(self) -> Header:
        """What it says."""
        return decode_header(self.line)


@dataclass(frozen=True, slots=True)
class Stray:
    """A record that is no header."""

    offset: int
    value: bytes


def headers_topic(topic: str) -> str:
    """Return the topic of a changelog's headers."""
    return f"{topic}.headers"


class HeadReader:
    """Reads headers on from where it was; a new one begins with the first that is there."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._place = TopicPartition(headers_topic(client.place.topic), 0)
        self._consumer: Any = None

    def more(self) -> list[Head | Stray]:
        """Return what came since the last call, in order.

        Raises:
            ExternalFailure: `cdc.kafka`, and the next call begins with the first header again.
        """
        try:
            with self._client.translated():
                return list(self._more())
        except PortalError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next call begins with the first header again."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def _more(self) -> Iterator[Head | Stray]:
        if self._consumer is None:
            self._consumer = self._client.open_consumer()
            self._consumer.assign([self._place])
            self._consumer.seek_to_beginning(self._place)
        stop = self._consumer.end_offsets([self._place])[self._place]
        for record in records_until(self._consumer, self._place, stop):
            yield head_of(record)


def last_head(client: KafkaClient) -> Head | None:
    """Return the header of the last batch; None of an empty log.

    It reads backwards from the end and makes no topic.

    Raises:
        ExternalFailure: `cdc.kafka`.
    """
    place = TopicPartition(headers_topic(client.place.topic), 0)
    with client.translated(), client.consumer() as consumer:
        consumer.assign([place])
        first = consumer.beginning_offsets([place])[place]
        stop = consumer.end_offsets([place])[place]
        begin, step = stop, _LOOK_BACK
        while begin > first:
            begin, step = max(first, stop - step), step * 8
            consumer.seek(place, begin)
            found = [head_of(record) for record in records_until(consumer, place, stop)]
            if heads := [one for one in found if isinstance(one, Head)]:
                return heads[-1]
    return None


def head_of(record: Any) -> Head | Stray:
    """Return a record of the topic as what it is."""
    value = bytes(record.value or b"")
    told = dict(record.headers or ())
    try:
        spans = json.loads(told[RANGES])
        ranges = {int(place): (int(first), int(last)) for place, (first, last) in spans.items()}
        number = int(told[NUMBER])
        decode_header(value)
    except (PortalError, KeyError, TypeError, ValueError, AttributeError):
        return Stray(record.offset, value)
    return Head(number, value, ranges, record.offset)
