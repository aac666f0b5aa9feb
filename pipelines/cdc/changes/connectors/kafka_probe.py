"""Asks brokers what a test of a changelog or of topics has to know; it only reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import AuthorizationError

from pipelines.cdc.changes.connectors.kafka_client import KafkaClient, records_until

_WANTED = ("retention.ms", "retention.bytes", "cleanup.policy", "max.message.bytes")


def topic_names(client: KafkaClient) -> list[str]:
    """Return the topics that the log-in may see."""
    with client.translated(), client.admin() as admin:
        return sorted(admin.list_topics())


def topic_facts(client: KafkaClient, topics: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Return the settings of those topics that are there; empty where they may not be read."""
    with client.translated(), client.admin() as admin:
        there = set(admin.list_topics())
        return {topic: _settings(admin, topic) for topic in topics if topic in there}


def topic_sample(client: KafkaClient, topic: str, *, most: int = 50) -> list[bytes]:
    """Return the values of the last records of a topic, a few of each partition."""
    with client.translated(), client.consumer() as consumer:
        numbers = sorted(consumer.partitions_for_topic(topic) or ())
        places = [TopicPartition(topic, number) for number in numbers]
        if not places:
            return []
        firsts, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
        found: list[bytes] = []
        for place in places:
            begin = max(firsts[place], ends[place] - max(1, most // len(places)))
            consumer.assign([place])
            consumer.seek(place, begin)
            found += [
                bytes(one.value or b"") for one in records_until(consumer, place, ends[place])
            ]
    return found


def _settings(admin: Any, topic: str) -> dict[str, str]:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    try:
        answer = admin.describe_configs([resource], config_filter="all")
    except AuthorizationError:
        return {}
    found = answer["topic"][topic]
    return {name: str(found[name]["value"]) for name in _WANTED if name in found}
