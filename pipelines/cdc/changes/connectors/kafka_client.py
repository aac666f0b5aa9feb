"""Clients of Kafka for one place, each with time-outs and with Kafka's errors in our words."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
)

from pipelines.cdc.changes.connectors.kafka_reasons import reason_of
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from portal.lake.errors import ExternalFailure

MOST_BYTES = 128 << 20
SECONDS = 30.0
_UNCLEAR = (
    KafkaConnectionError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    OSError,
)
"""What the client says of brokers that it cannot use, whatever the reason is."""


class KafkaClient:
    """Makes consumers, producers and admin clients."""

    def __init__(self, place: KafkaPlace, *, password: str = "", connect_seconds: int = 10) -> None:
        self.place, self._password = place, password
        self._settings: dict[str, Any] = {
            "bootstrap_servers": place.servers.split(","),
            "bootstrap_timeout_ms": connect_seconds * 1000,
            "security_protocol": place.protocol,
        }
        if place.ssl_ca:
            self._settings["ssl_cafile"] = place.ssl_ca
        if place.user:
            self._settings |= {
                "sasl_mechanism": place.mechanism,
                "sasl_plain_username": place.user,
                "sasl_plain_password": password,
            }

    def admin(self) -> Any:
        """Return an admin client, a context manager."""
        return KafkaAdminClient(**self._settings)

    def producer(self, name: str) -> Any:
        """Return a producer of transactions; `name` shuts earlier ones of it out."""
        return KafkaProducer(
            **self._settings,
            transactional_id=name,
            acks="all",
            max_request_size=MOST_BYTES,
            linger_ms=5,
        )

    @contextmanager
    def consumer(self) -> Iterator[Any]:
        """Yield a consumer of committed records, without a group."""
        consumer = self.open_consumer()
        try:
            yield consumer
        finally:
            consumer.close()

    def open_consumer(self) -> Any:
        """Return the same, to be closed by the caller."""
        return KafkaConsumer(
            **self._settings,
            isolation_level="read_committed",
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            # Never to another place by itself: what is gone has to be said.
            auto_offset_reset="none",
            fetch_max_bytes=MOST_BYTES,
            max_partition_fetch_bytes=MOST_BYTES,
        )

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise an ExternalFailure for what Kafka raises.

        `cdc.kafka` may be tried again; `cdc.kafka_tls` and `cdc.kafka_login` are settings that a
        person corrects.
        """
        try:
            yield
        except (KafkaError, OSError) as error:
            if isinstance(error, _UNCLEAR):
                reason = reason_of(self.place, password=self._password)
                if reason is not None:
                    raise reason from error
            raise ExternalFailure(
                "cdc.kafka",
                f"Kafka at {self.place.servers} failed: {type(error).__name__}: {error}.",
                service="kafka",
                retryable=True,
            ) from error


def records_until(consumer: Any, place: TopicPartition, stop: int) -> Iterator[Any]:
    """Yield the records of a partition below an offset from where a consumer is.

    Raises:
        KafkaTimeoutError: nothing came for half a minute; a consumer alone would wait for ever.
    """
    patient = time.monotonic() + SECONDS
    position = consumer.position(place)
    while position < stop:
        for record in consumer.poll(timeout_ms=500).get(place, ()):
            if record.offset < stop:
                yield record
        now = consumer.position(place)
        if now > position:
            position, patient = now, time.monotonic() + SECONDS
        elif time.monotonic() > patient:
            raise KafkaTimeoutError(f"nothing came of {place.topic} for {SECONDS:.0f} s")
