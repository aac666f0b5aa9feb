"""What a test says of topics of Kafka."""

import pytest

from pipelines.cdc.capture.domain.findings import Level
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace, java_settings, topics_there
from pipelines.cdc.control.domain.kafka_findings import judge_changelog, judge_topics

GOOD = {"retention.ms": "-1", "cleanup.policy": "delete", "max.message.bytes": "134217728"}
DAY = 86_400_000


@pytest.mark.parametrize(
    ("topic", "changed", "code", "level"),
    [
        ("log", {"retention.ms": str(DAY)}, "kafka.retention", Level.WARNING),
        ("log.headers", {"retention.ms": str(90 * DAY)}, "kafka.retention", Level.ERROR),
        ("log.schemas", {"cleanup.policy": "compact"}, "kafka.compacted", Level.ERROR),
        ("log", {"max.message.bytes": "1048588"}, "kafka.record_size", Level.WARNING),
        ("log", {"retention.bytes": "1000"}, "kafka.size", Level.WARNING),
    ],
)
def test_a_topic_that_would_lose_records_is_said(
    topic: str, changed: dict[str, str], code: str, level: Level
) -> None:
    facts = {name: dict(GOOD) for name in ("log", "log.headers", "log.schemas")}
    assert {one.level for one in judge_changelog("log", facts, days=7)} == {Level.OK}
    facts[topic] |= changed
    assert (code, level) in {(one.code, one.level) for one in judge_changelog("log", facts, days=7)}


def test_a_long_retention_of_changes_is_enough_and_settings_may_be_hidden() -> None:
    facts = {"log": {**GOOD, "retention.ms": str(7 * DAY)}}
    assert {one.level for one in judge_changelog("log", facts, days=7)} == {Level.OK}
    (hidden,) = judge_changelog("log", {"log": {}}, days=7)
    assert hidden.level is Level.WARNING
    (made,) = judge_changelog("log", {}, days=7)
    assert made.level is Level.OK


def test_topics_are_found_by_patterns_without_those_of_kafka() -> None:
    names = ["app.a", "app.b", "appx", "__consumer_offsets", "orders"]
    assert topics_there(names, ["app.*", "orders", "__*"]) == ["app.a", "app.b", "orders"]
    (none,) = judge_topics({}, patterns=["x"], days=7)
    assert none.level is Level.ERROR


def test_a_password_with_quotes_stays_one_word_for_java() -> None:
    place = KafkaPlace("a:1", user="u", password_name="P", mechanism="PLAIN", ssl_ca="/ca.pem")
    said = java_settings(place, password='a"b\\c', certificates="PEM")
    assert said["sasl.jaas.config"].endswith('username="u" password="a\\"b\\\\c";')
    assert (said["security.protocol"], said["ssl.truststore.certificates"]) == ("SASL_SSL", "PEM")
