"""Tests a source before anything of it is stored."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.capture.connectors.source import probe
from pipelines.cdc.capture.domain.findings import Finding, Level, TableFacts
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.connectors.kafka_heads import headers_topic
from pipelines.cdc.changes.connectors.kafka_log import topics_of
from pipelines.cdc.changes.connectors.kafka_probe import (
    topic_facts,
    topic_names,
    topic_sample,
)
from pipelines.cdc.changes.domain.kafka_place import (
    KafkaPlace,
    check_ca,
    check_place,
    topics_there,
)
from pipelines.cdc.changes.services.passwords import kafka_password
from pipelines.cdc.control.domain.kafka_findings import inferred, judge_changelog, judge_topics
from pipelines.cdc.control.domain.spec import PipelineSpec, SourceKind
from pipelines.cdc.control.services.pipelines import check_may_name_servers
from pipelines.cdc.control.services.sources import source_config
from pipelines.cdc.protecting.domain.columns import check_table
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.engine.ciphers import Protector
from pipelines.cdc.protecting.services.lake_keys import check_keys
from pipelines.models import Pipeline
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.lake.errors import ExternalFailure, RuleViolation


def kafka_test(place: KafkaPlace, *, name: str) -> tuple[Finding, ...]:
    """Look at the topics of the changelog of the pipeline `name`; nothing is made.

    Raises:
        RuleViolation: the password is not there.
    """
    client = KafkaClient(place, password=kafka_password(place))
    headers = headers_topic(place.topic)
    try:
        facts = topic_facts(client, tuple(topics_of(place.topic)))
        is_used = headers in facts and bool(topic_sample(client, headers))
    except ExternalFailure as error:
        return (Finding("kafka.servers", Level.ERROR, error.message, "Check servers and log-in."),)
    own = Pipeline.objects.filter(name=name).first()
    if is_used and (own is None or own.kafka.get("topic") != place.topic):
        text = f"Topic {place.topic} is the changelog of another pipeline, or of one that is gone."
        return (Finding("kafka.used", Level.ERROR, text, "Name another topic."),)
    return tuple(judge_changelog(place.topic, facts, days=settings.LAKEWARDEN_CHANGELOG_DAYS))


def topics_test(place: KafkaPlace, patterns: Sequence[str]) -> tuple[Finding, ...]:
    """Look for the topics that become tables.

    Raises:
        RuleViolation: the password is not there.
    """
    client = KafkaClient(place, password=kafka_password(place))
    try:
        facts = topic_facts(client, topics_there(topic_names(client), patterns))
    except ExternalFailure as error:
        return (Finding("kafka.servers", Level.ERROR, error.message, "Check servers and log-in."),)
    days = settings.LAKEWARDEN_CHANGELOG_DAYS
    return tuple(judge_topics(facts, patterns=patterns, days=days))


def topics_columns(place: KafkaPlace, patterns: Sequence[str], *, by: Actor) -> tuple[Column, ...]:
    """Return columns for topics by a sample of the first of them; none where there is no sample.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in.
        ExternalFailure: the brokers do not answer.
        RuleViolation: the password is not there, or the place is none.
    """
    check_may_name_servers(by)
    check_ca(place.ssl_ca, field="kafka_ssl_ca")
    check_place(place, has_topic=False)
    client = KafkaClient(place, password=kafka_password(place))
    found = topics_there(topic_names(client), patterns)
    return inferred(topic_sample(client, found[0])) if found else ()


@dataclass(frozen=True, slots=True)
class TestReport:
    """What a test found."""

    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether the source can be captured; what is only worse does not hinder."""
        return all(one.level is not Level.ERROR for one in self.findings)


def source_test(spec: PipelineSpec, *, by: Actor) -> TestReport:
    """Try everything that a capture needs; it only reads.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in, because the portal logs in there.
        NotVisible: the lake is none.
        RuleViolation: the password is not there.
    """
    check_may_name_servers(by)
    get_lake(spec.lake)
    if spec.kind is SourceKind.TOPICS and spec.kafka:
        return TestReport(topics_test(spec.kafka, spec.patterns))
    found = probe(source_config(spec), also=lambda tables: _settings(spec, tables))
    return TestReport((*found, *(kafka_test(spec.kafka, name=spec.name) if spec.kafka else ())))


def checked_source(spec: PipelineSpec, *, by: Actor) -> None:
    """Refuse a source that cannot be captured.

    Raises:
        RuleViolation: `pipeline.test`, with all that is missing; else as `source_test`.
    """
    report = source_test(spec, by=by)
    if not report.is_good:
        bad = [one for one in report.findings if one.level is Level.ERROR]
        words = " ".join(f"{one.message} {one.remedy}".strip() for one in bad)
        raise RuleViolation("pipeline.test", f"The source cannot be captured. {words}")


def _settings(spec: PipelineSpec, tables: Sequence[TableFacts]) -> Iterator[Finding]:
    """Judge protections and partition columns by the tables that are there, and the keys."""
    schemas = {one.name: one.schema for one in tables if one.schema is not None}
    for name in sorted({*spec.protections, *spec.partitions}):
        said = {column: Protection.parse(text) for column, text in _of(spec, name).items()}
        try:
            if name not in schemas:
                raise RuleViolation("cdc.protection", f"No table {name} is captured.")
            check_keys(spec.lake, said.values())
            check_table(schemas[name], said, spec.partitions.get(name, ""))
            for column, protection in said.items():
                Protector.of(protection, name, column, os.environ)
        except RuleViolation as error:
            yield Finding("protection", Level.ERROR, error.message, "Correct it.")
        else:
            n = len(said)
            words = f"{name}: {n} column{'' if n == 1 else 's'} can be protected as asked."
            yield Finding("protection", Level.OK, words)


def _of(spec: PipelineSpec, name: str) -> dict[str, str]:
    return dict(spec.protections.get(name, {}))
