"""Capture, apply and comparison through a broker that wants TLS and a log-in, and what they say."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import pytest

from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.connectors.kafka_probe import topic_names
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from portal.lake.errors import ExternalFailure
from stack.ledger import Ledger
from tests.support.captured import Shop
from tests.support.reconciled import Reconciled
from tests.support.secure_kafka import SCRAM_SECRET, SECRET, USER, Authority, SecureKafka

pytestmark = pytest.mark.spark
VARIABLE = "LAKEWARDEN_CDC_PASSWORD_KAFKA"


@dataclass(frozen=True)
class Secure:
    """A broker, its signer, and another signer whom it has nothing of."""

    broker: SecureKafka
    authority: Authority
    stranger: Authority

    def place(self, **changed: str) -> KafkaPlace:
        """Return where it is as a pipeline names it."""
        plain = KafkaPlace(
            servers=self.broker.address,
            topic="changes",
            user=USER,
            password_name="KAFKA",
            mechanism="PLAIN",
            ssl_ca=str(self.authority.file),
        )
        return msgspec.structs.replace(plain, **changed)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    var = tmp_path_factory.mktemp("secure")
    signers = Authority(var, "signer"), Authority(var, "stranger")
    broker = SecureKafka(var, ledger=Ledger(var / "stack.json"), authority=signers[0])
    broker.start()
    try:
        broker.wait_ready()
        yield Secure(broker, *signers)
    finally:
        broker.stop()


def test_changes_go_through_tls_and_a_log_in(
    secure: Secure, pipeline: Reconciled, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.run(
        "create table carts (id int primary key, qty int)",
        "insert into carts select seq, seq from seq_1_to_300",
    )
    monkeypatch.setenv(VARIABLE, SECRET)
    pipeline.kafka = secure.place()
    pipeline.capture()
    pipeline.apply("carts")
    rows = sorted(tuple(row) for row in pipeline.rows("carts").select("id", "qty").collect())
    assert rows == shop.rows("select * from carts order by id")

    monkeypatch.setenv(VARIABLE, SCRAM_SECRET)
    pipeline.kafka = secure.place(mechanism="SCRAM-SHA-512")
    del pipeline.log
    shop.run("update carts set qty = 0 where id % 7 = 0")
    pipeline.capture()
    pipeline.apply("carts")
    assert (pipeline.prove("carts").state, pipeline.prove("carts").n_rows) == ("equal", 300)


@pytest.mark.parametrize(
    ("changed", "password", "code", "words"),
    [
        ({}, "wrong", "cdc.kafka_login", "refused the log-in of 'lake' by PLAIN"),
        (
            {"mechanism": "SCRAM-SHA-512"},
            "wrong",
            "cdc.kafka_login",
            "refused the log-in of 'lake' by SCRAM-SHA-512",
        ),
        ({"mechanism": "SCRAM-SHA-256"}, SECRET, "cdc.kafka_login", "takes PLAIN, SCRAM-SHA-512"),
        ({"ssl_ca": "stranger"}, SECRET, "cdc.kafka_tls", "certificate that is not accepted"),
        ({"ssl_ca": "none"}, SECRET, "cdc.kafka_tls", "cannot be read"),
        ({"ssl_ca": ""}, SECRET, "cdc.kafka", "or wants TLS"),
        ({"user": ""}, "", "cdc.kafka", "or wants a log-in"),
    ],
)
def test_what_is_wrong_names_the_broker_the_setting_and_the_next_step(
    secure: Secure, changed: dict[str, str], password: str, code: str, words: str
) -> None:
    files = {"stranger": str(secure.stranger.file), "none": "/no/such.pem"}
    place = secure.place(**changed)
    place = msgspec.structs.replace(place, ssl_ca=files.get(place.ssl_ca, place.ssl_ca))
    with pytest.raises(ExternalFailure) as told:
        KafkaLog(place, password=password, connect_seconds=1)
    assert told.value.code == code, told.value.message
    assert words in told.value.message
    assert secure.broker.address in told.value.message
    assert not password or password not in told.value.message.split("'")
    named = {"wrong": VARIABLE, "stranger": files["stranger"], "none": files["none"]}
    setting = named.get(password) or named.get(changed.get("ssl_ca", ""), "")
    assert setting in told.value.message
    assert topic_names(KafkaClient(secure.place(), password=SECRET)) is not None


def test_a_broker_that_is_away_or_speaks_no_tls_is_said(secure: Secure) -> None:
    for servers, code, words in (
        ("127.0.0.1:1", "cdc.kafka", "127.0.0.1:1 does not answer"),
        (secure.broker._controller, "cdc.kafka_tls", "does not speak TLS"),
    ):
        client = KafkaClient(secure.place(servers=servers), password=SECRET, connect_seconds=1)
        with pytest.raises(ExternalFailure, match=words) as told:
            topic_names(client)
        assert (told.value.code, told.value.retryable) == (code, code == "cdc.kafka")
