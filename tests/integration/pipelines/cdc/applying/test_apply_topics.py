"""Plain topics of a real Kafka become Hudi tables: each record once, what does not fit kept."""

import itertools
import json
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition

from pipelines.cdc.applying.domain.messages import Column, TopicsPlan
from pipelines.cdc.applying.domain.topics import DB, KEY
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.domain.plans import Choice, DecidedSchema, Decision, table_plan
from pipelines.cdc.schema.domain.classes import classify
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath
from stack.servers.kafka import Kafka
from tests.support.changelogs import Pipeline

pytestmark = pytest.mark.spark
_NUMBERS = itertools.count(1)
COLUMNS = (
    Column("id", "bigint"),
    Column("price", "decimal(20,2)"),
    Column("paid", "boolean"),
    Column("made", "timestamp"),
    Column("note", "string"),
    Column("kafka_headers", "string"),
)


class Topic:
    """A topic, and the orders by which it becomes a table."""

    def __init__(self, kafka: Kafka, pipeline: Pipeline) -> None:
        self.name = f"app.orders{next(_NUMBERS)}"
        self.pipeline = pipeline
        pipeline.kafka = KafkaPlace(kafka.address)
        pipeline.topics = TopicsPlan((f"{self.name}*",), COLUMNS, most_records=4)
        self.client = KafkaClient(pipeline.kafka)
        with self.client.admin() as admin:
            wanted = {"num_partitions": 2, "replication_factor": 1}
            admin.create_topics({self.name: wanted}, wait_for_metadata=True)
        self.choices: dict[str, Choice] = {}

    def send(self, *values: Any) -> None:
        with closing(KafkaProducer(bootstrap_servers=self.client.place.servers)) as producer:
            for n, value in enumerate(values):
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                producer.send(self.name, value=data, partition=n % 2, headers=[("via", b"test")])
            producer.flush()

    def order(self) -> None:
        """Order what the portal would: each schema decided, new columns as the test says."""
        files = LocalFileSystem()
        found = DirectoryLog(files, LakePath.parse(str(self.pipeline.log.root))).schemas()
        decided = []
        for n, schema in enumerate(found):
            changes = classify(found[n - 1], schema, None) if n else ()
            decided.append(DecidedSchema(schema, Decision.APPROVED, changes, self.choices))
        plan = table_plan(decided)
        self.pipeline.tables[self.name] = self.pipeline.table(
            self.name,
            db=DB,
            key=KEY,
            columns=plan.columns,
            schemas=plan.schemas,
            replays=plan.replays,
        )

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        location = self.pipeline.tables[self.name].location
        frame = self.pipeline.spark.read.format("hudi").load(location)
        found = [tuple(row) for row in frame.select(*columns).collect()]
        return sorted(found, key=lambda row: [(value is None, value) for value in row])


@pytest.fixture
def topic(kafka: Kafka, pipeline: Pipeline) -> Topic:
    return Topic(kafka, pipeline)


def order(n: int, **more: Any) -> dict[str, Any]:
    return {"id": n, "price": 1.5, "paid": True, "made": "2026-05-01T10:00:00Z", **more}


def test_records_are_added_once_and_what_does_not_fit_is_kept(topic: Topic) -> None:
    pipeline = topic.pipeline
    big = b'{"id": 90, "price": 123456789012345678.91, "paid": false, "made": null}'
    topic.send(*(order(n, note=f"n{n}") for n in range(1, 11)), big, b"no json", b"[1]")
    topic.send({"id": "many"}, order(12, price="1.005"), order(11))
    pipeline.run()
    assert pipeline.said().failure is None, pipeline.said()
    assert pipeline.said().unknown == {f"{DB}.{topic.name}": 14}
    assert (pipeline.said().n_unreadable, pipeline.said().n_behind) == (2, 0)
    topic.order()
    pipeline.run()
    report = pipeline.report(topic.name)
    assert (report.failure, report.n_in_quarantine, report.n_waiting) == (None, 2, 0), report
    assert [row[0] for row in topic.rows("id")] == [*range(1, 12), 90]
    assert topic.rows("id", "price", "paid", "note")[-1] == (
        *(90, Decimal("123456789012345678.91"), False, None),
    )
    assert {str(row[0]) for row in topic.rows("made")} == {"2026-05-01 10:00:00", "None"}
    assert topic.rows("kafka_headers")[0] == ('[{"key":"via","value":"test"}]',)
    kept = pipeline.spark.read.parquet(str(pipeline.folder / "unreadable"))
    assert {bytes(row.value) for row in kept.collect()} == {b"no json", b"[1]"}

    # All of it again, after what the program remembers is gone: nothing twice.
    (pipeline.folder / "progress.json").unlink()
    topic.send(order(20))
    pipeline.run()
    report = pipeline.report(topic.name)
    assert (report.failure, report.n_upserted, report.n_in_quarantine) == (None, 1, 2), report
    assert [row[0] for row in topic.rows("id")] == [*range(1, 12), 20, 90]


def test_a_new_field_waits_for_a_word_and_is_then_filled_in(topic: Topic) -> None:
    pipeline = topic.pipeline
    topic.send(order(1))
    pipeline.run()
    topic.order()
    topic.send(order(2, phone="0123"), order(3))
    pipeline.run()
    assert pipeline.report(topic.name).waiting_schemas == (2,)
    assert [row[0] for row in topic.rows("id")] == [1, 3]
    topic.order()
    pipeline.run()
    assert [row[0] for row in topic.rows("id")] == [1, 2, 3]
    topic.choices["phone"] = Choice.LIVE
    topic.order()
    pipeline.run()
    assert topic.rows("id", "phone") == [(1, None), (2, "0123"), (3, None)]


def test_records_that_kafka_removed_are_said_and_a_reload_goes_on(topic: Topic) -> None:
    pipeline = topic.pipeline
    topic.send(order(1), order(2))
    pipeline.run()
    topic.order()
    pipeline.run()
    topic.send(order(3), order(4))
    places = [TopicPartition(topic.name, n) for n in range(2)]
    with topic.client.admin() as admin, topic.client.consumer() as consumer:
        admin.delete_records(consumer.end_offsets(places))
    pipeline.run()
    failure = pipeline.said().failure
    assert failure is not None
    assert failure.code == "cdc.changelog_expired"
    topic.send(order(5))
    pipeline.first_batch = pipeline.report(topic.name).batch + 1
    pipeline.run()
    assert pipeline.said().failure is None, pipeline.said()
    assert [row[0] for row in topic.rows("id")] == [1, 2, 5]
