"""Changes come out of a real Kafka as they come out of files, whatever happens meanwhile."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition

from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.connectors.kafka_probe import topic_facts
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.records import Change
from portal.lake.errors import NotVisible, StaleState
from stack.ledger import Ledger
from stack.servers.kafka import Kafka
from tests.integration.pipelines.cdc.applying.test_apply_killed import is_over
from tests.support.changelogs import Pipeline, change, folded, head_of, orders_of
from tests.support.hudi_services import submitted
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
_NUMBERS = itertools.count(1)
_PATIENCE_SECONDS = 240.0


@dataclass
class Topic:
    """A changelog in Kafka that a test writes."""

    place: KafkaPlace
    number: int = 0
    log: KafkaLog = field(init=False)

    def __post_init__(self) -> None:
        self.log = KafkaLog(self.place)

    def write(self, changes: Sequence[Change]) -> None:
        self.number += 1
        self.log.append(self.number, head_of(changes), changes)

    def put(self, topic: str, value: bytes) -> int:
        """Send bytes that nobody expects; returns their offset."""
        with closing(KafkaProducer(bootstrap_servers=self.place.servers)) as producer:
            return int(producer.send(topic, value=value, partition=0).get(20).offset)


@pytest.fixture
def topic(kafka: Kafka, pipeline: Pipeline) -> Iterator[Topic]:
    made = Topic(KafkaPlace(kafka.address, f"changes{next(_NUMBERS)}"))
    pipeline.kafka = made.place
    yield made
    made.log.close()


def until(found: Callable[[], Any], log: Path | None = None) -> None:
    ends = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with suppress(NotVisible):
            if found():
                return
        assert time.monotonic() < ends, log and log.read_text()[-5000:]
        time.sleep(0.2)


FIRST = [change("c", key, key) for key in range(1, 9)]
SECOND = [change("d", 1, 11), change("u", 2, 12), change("c", 9, 13)]
LATE = [change("u", 1, 10), change("u", 2, 9), change("c", 7, 30)]


def test_a_changelog_in_kafka_is_a_fold_by_version_and_bad_records_are_kept(
    pipeline: Pipeline, topic: Topic
) -> None:
    pipeline.table()
    facts = topic_facts(KafkaClient(topic.place), [topic.place.topic, "none"])
    assert facts.keys() == {topic.place.topic}
    assert facts[topic.place.topic]["retention.ms"] == "-1"
    topic.write(FIRST)
    poison = topic.put(topic.place.topic, b"\xff no record")
    topic.put(f"{topic.place.topic}.headers", b"no header")
    topic.write(SECOND)
    topic.write([])
    pipeline.run(at_once=2)
    assert pipeline.said().failure is None, pipeline.said()
    assert pipeline.rows() == folded([*FIRST, *SECOND])
    assert (pipeline.said().batch, pipeline.said().n_unreadable) == (3, 2)
    kept = pipeline.spark.read.parquet(str(pipeline.folder / "unreadable"))
    rows = {(row.topic, row.offset): bytes(row.value) for row in kept.collect()}
    assert rows[topic.place.topic, poison] == b"\xff no record"

    # Again from the first batch, with late changes behind it: the same table, and nothing twice.
    (pipeline.folder / "progress.json").unlink()
    topic.write(LATE)
    pipeline.run()
    report = pipeline.report()
    assert (report.failure, report.batches, report.n_upserted) == (None, "1-4", 1)
    assert pipeline.rows() == folded([*FIRST, *SECOND, *LATE])
    assert pipeline.said().n_unreadable == 2


def test_what_kafka_removed_before_it_was_applied_is_said(pipeline: Pipeline, topic: Topic) -> None:
    pipeline.table()
    for one in FIRST[:3]:
        topic.write([one])
    pipeline.run(at_once=1)
    topic.write(FIRST[3:])
    topic.write(SECOND)
    client = KafkaClient(topic.place)
    with client.admin() as admin, client.consumer() as consumer:
        places = _partitions(consumer, topic.place.topic)
        admin.delete_records(consumer.end_offsets(places))
    pipeline.run()
    failure = pipeline.said().failure
    assert failure is not None
    assert failure.code == "cdc.changelog_expired"
    assert pipeline.rows() == folded(FIRST[:3])
    topic.log.trim(5)
    pipeline.run()
    failure = pipeline.said().failure
    assert failure is not None
    assert failure.code == "cdc.trimmed"


def _partitions(consumer: Any, topic: str) -> list[Any]:
    return [TopicPartition(topic, one) for one in consumer.partitions_for_topic(topic)]


def test_a_killed_program_leaves_one_state(
    pipeline: Pipeline, topic: Topic, tmp_path: Path
) -> None:
    pipeline.table()
    topic.write(FIRST)
    pipeline.run()
    topic.write(SECOND)
    log = tmp_path / "log"
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    launched = submitted(
        job,
        "pipelines.cdc.applying.jobs.apply",
        config=pipeline.config,
        log_file=log,
        environment={"LW_FAILPOINT": "deletes:after:kill", "LW_FAILPOINTS_ENABLED": "1"},
    )
    until(lambda: is_over(launched.pid), log)
    assert job.spool.read_manifest() is None, job.spool.read_manifest()
    topic.write(LATE)
    pipeline.run(at_once=1)
    report = pipeline.report()
    assert (report.failure, report.batches) == (None, "1-3"), report
    assert pipeline.rows() == folded([*FIRST, *SECOND, *LATE])


def test_a_broker_that_comes_back_is_read_on(pipeline: Pipeline, tmp_path: Path) -> None:
    own = Kafka(tmp_path, ledger=Ledger(tmp_path / "stack.json"))
    own.start()
    own.wait_ready()
    topic = Topic(KafkaPlace(own.address, "changes"))
    pipeline.kafka = topic.place
    pipeline.table()
    topic.write(FIRST)
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    pipeline.job = job
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(apply.run, pipeline.spark, job)
        try:
            until(lambda: pipeline.report().n_upserted == len(FIRST))
            own.kill()
            until(lambda: pipeline.said().state == "failing")
            failure = pipeline.said().failure
            assert failure is not None
            assert failure.code == "cdc.kafka"
            own.start()
            own.wait_ready()
            again = KafkaLog(topic.place)
            again.append(2, head_of(SECOND), SECOND)
            until(lambda: pipeline.report().n_deleted == 1)
            assert pipeline.said().failure is None
        finally:
            job.spool.write_control({"cancel": True})
            with pytest.raises(StaleState):
                ended.result(_PATIENCE_SECONDS)
            own.stop()
    assert pipeline.rows() == folded([*FIRST, *SECOND])
