"""A changelog in a real Kafka keeps the promises of the port, and a capture can write it."""

import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from kafka.errors import KafkaError

from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.positions import Position
from portal.lake.errors import ExternalFailure
from stack.servers.kafka import Kafka
from tests.support.captured import Shop, folded, ordered
from tests.support.changelog_cases import CASES, Open, change, header

_NUMBERS = itertools.count(1)


@pytest.fixture
def open_log(kafka: Kafka) -> Iterator[Open]:
    name, opened = f"log{next(_NUMBERS)}", list[KafkaLog]()

    def open_one() -> KafkaLog:
        opened.append(KafkaLog(KafkaPlace(kafka.address, name)))
        return opened[-1]

    yield open_one
    for log in opened:
        log.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_kafka_keeps_the_promise(case: Callable[[Open], None], open_log: Open) -> None:
    case(open_log)


def test_a_batch_that_was_not_committed_is_never_read(open_log: Open) -> None:
    first = open_log()
    assert isinstance(first, KafkaLog)
    first.append(1, header(1), [change(1)])
    first._producer.begin_transaction()
    first._send(first._name, b"k", b"half of a batch").get(20)
    second = open_log()
    second.append(2, header(2), [change(2), change(3, key="9")])
    with pytest.raises(KafkaError):
        first._producer.commit_transaction()
    assert [len(batch.changes) for batch in open_log().read(0)] == [1, 2]


def test_a_capture_writes_into_kafka(shop: Shop, open_log: Open) -> None:
    shop.run("create table t (id int primary key, a int)")
    shop.run("insert into t select seq, seq from seq_1_to_500")
    log = open_log()
    for statement in ("update t set a = a + 1 where id < 100", "delete from t where id > 490"):
        patient = time.monotonic() + 120

        def caught_up(patient: float = patient) -> bool:
            end = log.end()
            there = shop.position()
            assert time.monotonic() < patient
            return end is not None and not end[1].loads and there <= Position.parse(end[1].end)

        capture_run(shop.config(), open_log(), lambda _: None, caught_up)
        shop.run(statement)
    capture_run(shop.config(), open_log(), lambda _: None, caught_up)
    found = [one for batch in log.read(0) for one in batch.changes]
    assert ordered(folded(found)) == ordered(shop.table("t"))


def test_a_broker_that_is_not_there_may_be_tried_again() -> None:
    with pytest.raises(ExternalFailure) as caught:
        KafkaLog(KafkaPlace("127.0.0.1:1", "log"), connect_seconds=1)
    assert (caught.value.code, caught.value.retryable) == ("cdc.kafka", True)
