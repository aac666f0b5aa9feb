"""Reads ranges of offsets of Kafka's topics as rows, in parallel; committed records alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka import TopicPartition
from py4j.java_gateway import JavaPackage
from pyspark.sql import DataFrame, SparkSession

from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace, java_settings
from portal.lake.errors import ExternalFailure, StaleState

Ranges = Mapping[tuple[str, int], tuple[int, int]]
"""Of each topic and partition: the first offset, and the one after the last."""

_SOON = {
    "kafka.default.api.timeout.ms": "30000",
    "kafka.request.timeout.ms": "20000",
    "fetchOffset.numRetries": "2",
    "kafkaConsumer.pollTimeoutMs": "30000",
}


def kafka_rows(
    spark: SparkSession, place: KafkaPlace, ranges: Ranges, *, password: str
) -> DataFrame:
    """Return the committed records of some ranges as Spark's `kafka` source has them."""
    certificates = Path(place.ssl_ca).read_text(encoding="utf-8") if place.ssl_ca else ""
    java = java_settings(place, password=password, certificates=certificates)
    begins: dict[str, dict[str, int]] = {}
    ends: dict[str, dict[str, int]] = {}
    for (topic, partition), (first, end) in ranges.items():
        begins.setdefault(topic, {})[str(partition)] = first
        ends.setdefault(topic, {})[str(partition)] = end
    reader = spark.read.format("kafka").options(
        **{f"kafka.{name}": text for name, text in java.items()},
        **_SOON,
        **{"kafka.isolation.level": "read_committed", "includeHeaders": "true"},
        assign=json.dumps({topic: [int(one) for one in found] for topic, found in begins.items()}),
        startingOffsets=json.dumps(begins),
        endingOffsets=json.dumps(ends),
        failOnDataLoss="true",
    )
    return reader.load()


def check_there(client: KafkaClient, firsts: Mapping[tuple[str, int], int]) -> dict[Any, int]:
    """Make sure that the topics still have some offsets; returns the first that each has.

    Raises:
        StaleState: `cdc.changelog_expired`.
    """
    wanted = {TopicPartition(*place): first for place, first in firsts.items()}
    with client.translated(), client.consumer() as consumer:
        earliest: dict[Any, int] = consumer.beginning_offsets(list(wanted)) if wanted else {}
    for place, first in wanted.items():
        if earliest[place] > first:
            raise expired(place.topic, place.partition, first, earliest[place])
    return earliest


def expired(topic: str, partition: int, wanted: int, earliest: int) -> StaleState:
    """Return the error of records that Kafka removed before they were applied."""
    return StaleState(
        "cdc.changelog_expired",
        f"Kafka has not the records of {topic}, partition {partition}, that come next: offset "
        f"{wanted} is needed, and the first that is there is {earliest}. They were removed before "
        "they were applied, or the topic was made again. Reload the pipeline, and give its topics "
        "a longer retention.",
        topic=topic,
    )


def check_kafka(spark: SparkSession) -> None:
    """Make sure that the session can read Kafka.

    Raises:
        ExternalFailure: `kafka.jar`.
    """
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.org.apache.spark.sql.kafka010.KafkaSourceProvider, JavaPackage):
        raise ExternalFailure(
            "kafka.jar",
            "Spark cannot read Kafka: put spark-sql-kafka-0-10_2.12, spark-token-provider-"
            "kafka-0-10_2.12, kafka-clients and commons-pool2 into `spark_jars` of the lake.",
            service="spark",
            retryable=False,
        )
