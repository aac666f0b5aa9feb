"""Pipelines of topics: how they are declared, what their program is told, what it tells."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.urls import reverse

from pipelines.cdc.applying.domain.messages import Column, PipelineReport, TopicsPlan
from pipelines.cdc.applying.domain.topics import KEY, first_schema, next_schema
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.domain.spec import PipelineSpec, topics_spec
from pipelines.cdc.control.services import testing
from pipelines.cdc.control.services.capturing import pipelines_without_capture
from pipelines.cdc.control.services.orders import has_orders, orders_of, passwords_of, plan_of
from pipelines.cdc.control.services.pipelines import pipeline_create, pipeline_edit, table_reload
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.cdc.control.services.topics import topics_hear, topics_take
from pipelines.models import Pipeline
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from tests.component.conftest import LAKE, People
from tests.component.pipelines.cdc.control.test_pipeline_pages import api, page, signed_in
from tests.component.pipelines.cdc.control.test_pipelines import ADA

pytestmark = pytest.mark.django_db
GOOD: dict[str, Any] = {
    "name": "events",
    "lake": LAKE,
    "kafka": {"servers": "127.0.0.1:1", "user": "lake", "password_name": "KAFKA"},
    "patterns": "app.*",
    "columns": "id bigint\nprice decimal(12, 2)\nkafka_timestamp timestamp",
    "target_db": "ods",
    "table_type": "MERGE_ON_READ",
}
FORM = {
    **{name: GOOD[name] for name in ("name", "lake", "patterns", "target_db", "table_type")},
    **{f"kafka_{name}": text for name, text in GOOD["kafka"].items()},
    **{"kafka_mechanism": "PLAIN", "columns": GOOD["columns"]},
}


@pytest.fixture
def spec(lake: LakeConfig, monkeypatch: pytest.MonkeyPatch) -> PipelineSpec:
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_KAFKA", "secret")
    return topics_spec(GOOD)


@pytest.fixture
def events(spec: PipelineSpec, now: datetime) -> Pipeline:
    return pipeline_create(spec, by=ADA, now=now)


@pytest.fixture
def ada(spec: PipelineSpec, people: People) -> Client:
    return signed_in(people.admin)


def test_it_is_kept_as_it_was_declared_and_captured_by_nobody(
    events: Pipeline, spec: PipelineSpec, now: datetime
) -> None:
    events.refresh_from_db()
    assert events.spec == spec
    assert pipelines_without_capture(now=now) == []
    assert has_orders(LAKE)
    (order,) = orders_of(LAKE).pipelines
    assert order.topics == TopicsPlan(("app.*",), spec.columns)
    assert order.kafka == spec.kafka
    assert passwords_of(LAKE) == {"LAKEWARDEN_CDC_PASSWORD_KAFKA": "secret"}


def test_a_password_that_cannot_be_read_is_missing_for_its_own_pipeline_alone(
    events: Pipeline, spec: PipelineSpec, now: datetime, settings: Any, tmp_path: Path
) -> None:
    assert spec.kafka is not None
    place = msgspec.structs.replace(spec.kafka, password_name="OTHER")
    other = replace(spec, name="clicks", kafka=place, patterns=("web.*",))
    settings.LAKEWARDEN_CAPTURE_PASSWORD_DIR = str(tmp_path)
    pipeline_create(other, by=ADA, now=now)
    (tmp_path / "OTHER").touch()
    assert passwords_of(LAKE) == {"LAKEWARDEN_CDC_PASSWORD_KAFKA": "secret"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kafka", {"servers": "localhost"}),
        ("kafka", {"servers": "a:0"}),
        ("kafka", {"servers": "a:1", "user": "u", "password_name": "low"}),
        ("kafka", {"servers": "a:1", "user": "u", "password_name": "A", "mechanism": "GSSAPI"}),
        ("kafka", {"servers": "a:1", "ssl_ca": "ca.pem"}),
        ("kafka", {}),
        ("patterns", "*"),
        ("patterns", "a b"),
        ("columns", ""),
        ("columns", "id"),
        ("columns", "id bigint\nid int"),
        ("columns", "data binary"),
        ("columns", "kafka_timestamp string"),
    ],
)
def test_what_cannot_be_one_is_refused(field: str, value: Any) -> None:
    with pytest.raises(RuleViolation) as refused:
        topics_spec({**GOOD, field: value})
    assert refused.value.code == "pipeline.spec"


def test_schemas_that_the_program_wrote_become_tables_and_a_new_field_waits(
    events: Pipeline, now: datetime
) -> None:
    log = open_changelog(events)
    first = first_schema("app.orders", events.spec.columns)
    log.schema_put(first)
    log.schema_put(next_schema(first, ["phone"], version=7))
    topics_hear(LAKE, now=now)
    table = events.tables.get()
    assert (str(table), table.target, table.key) == ("kafka.app.orders", "ods.app_orders", [*KEY])
    assert table.loaded_at == now
    assert plan_of(table, table.schemas.all()).pending == ("phone",)
    table.location = "file:/lake/app_orders"
    table.save()
    (order,) = orders_of(LAKE).pipelines[0].tables
    assert order.columns == (
        *(Column("kafka_topic", "string"), Column("kafka_partition", "int")),
        *(Column("kafka_offset", "bigint"), Column("id", "bigint")),
        *(Column("price", "decimal(12,2)"), Column("kafka_timestamp", "timestamp")),
    )
    assert order.schemas[1].aside == ("phone",)
    with pytest.raises(RuleViolation) as refused:
        table_reload(table, reason="again", by=ADA, now=now)
    assert refused.value.code == "pipeline.topics"


def test_its_lag_is_in_records_and_seconds(events: Pipeline, ada: Client, now: datetime) -> None:
    newest = int((now - timedelta(seconds=30)).timestamp() * 1000)
    told = PipelineReport(
        events.pk, "running", batch=4, n_behind=12, n_read=500, newest_at=newest, n_unreadable=1
    )
    for _ in range(2):
        events.refresh_from_db()
        topics_take(events, told, now=now)
    events.refresh_from_db()
    assert (events.n_rows, events.n_behind, events.batch) == (500, 12, 4)
    assert events.seconds_behind == pytest.approx(30, abs=0.01)
    Pipeline.objects.update(n_unreadable=1)
    text = page(ada, "pipeline", "events")
    for shown in ("12 more records wait", "1 record of Kafka could not be read", "127.0.0.1:1"):
        assert shown in text


def test_the_form_tests_brokers_and_stores_nothing(ada: Client) -> None:
    answer = ada.post(reverse("pipelines:create-topics"), {**FORM, "do": "create"})
    assert "It cannot be created yet" in answer.content.decode()
    answer = api(
        ada,
        "test-topics",
        **{**GOOD, "patterns": ["app.*"], "columns": [{"name": "id", "type": "int"}]},
    )
    assert json.loads(answer.content)["is_good"] is False
    assert not Pipeline.objects.exists()


def test_columns_of_a_sample_are_shown_before_anything_is_created(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "topic_names", lambda _: ["app.orders"])
    monkeypatch.setattr(testing, "topic_facts", lambda _, topics: {one: {} for one in topics})
    sample = [b'{"id": 1, "ok": true, "x": 1}', b'{"id": 2, "note": "n", "x": 1.5}', b"no json"]
    monkeypatch.setattr(testing, "topic_sample", lambda *_: sample)
    address = reverse("pipelines:create-topics")
    text = ada.post(address, {**FORM, "columns": "", "do": "create"}).content.decode()
    assert "id bigint\nok boolean\nx double\nnote string" in text
    assert "columns are those of a sample" in text
    assert not Pipeline.objects.exists()
    assert ada.post(address, {**FORM, "do": "create"}).status_code == 302
    assert Pipeline.objects.get().is_of_topics


def test_brokers_can_be_changed_and_columns_cannot(
    events: Pipeline, spec: PipelineSpec, ada: Client, now: datetime
) -> None:
    other = topics_spec({**GOOD, "kafka": {**GOOD["kafka"], "servers": "b:9092"}})
    pipeline_edit(events, other, version=0, by=ADA, now=now)
    events.refresh_from_db()
    assert events.spec.kafka == KafkaPlace("b:9092", "", "lake", "KAFKA")
    assert "b:9092" in page(ada, "edit", "events")
    changed = topics_spec({**GOOD, "columns": "id int"})
    with pytest.raises(RuleViolation) as refused:
        pipeline_edit(events, changed, version=1, by=ADA, now=now)
    assert refused.value.code == "pipeline.fixed"
