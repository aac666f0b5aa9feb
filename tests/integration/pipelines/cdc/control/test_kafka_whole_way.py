"""The whole way with Kafka between: a MariaDB's changes, and a plain topic, in Hudi tables."""

import json
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient
from pyspark.sql import SparkSession

from pipelines.cdc.capture.domain.findings import Level
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.control import run_kinds
from pipelines.cdc.control.domain.spec import PipelineSpec, spec_of, topics_spec
from pipelines.cdc.control.services.capturing import pipeline_capture
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.cdc.control.services.testing import source_test
from pipelines.models import CapturedTable, Pipeline
from portal.runs.claims.leases import new_holder
from stack.process import LOOPBACK
from stack.servers.kafka import Kafka
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER
from stack.stack import LAKE, Stack
from tests.integration.pipelines.cdc.control.test_cdc_whole_way import BY, apply
from tests.support.captured import Shop
from tests.support.scan_lake import ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
_PATIENCE_SECONDS = 180


@pytest.fixture
def ods(embedded_stack: Stack, settings: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", CAPTURE_PASSWORD)
    monkeypatch.setattr(run_kinds, "STAY", timedelta(0))
    config = embedded_stack.config(LAKE)
    lake = ScanLake(config, config.path(embedded_stack.lake_root).child("kafka"))
    lake.database("ods", owner="alice")
    return lake.db_name("ods")


def created(spec: PipelineSpec) -> Pipeline:
    found = source_test(spec, by=BY)
    assert found.is_good, found
    assert "kafka.topic" in {one.code for one in found.findings if one.level is Level.OK}
    return pipeline_create(spec, by=BY, now=timezone.now())


def capture(pipeline: Pipeline, shop: Shop) -> None:
    there, log = shop.position(), open_changelog(pipeline)
    ends = time.monotonic() + _PATIENCE_SECONDS

    def is_caught_up() -> bool:
        assert time.monotonic() < ends
        end = log.end()
        return end is not None and not end[1].loads and there <= Position.parse(end[1].end)

    pipeline_capture(pipeline.name, holder=new_holder(), is_ended=is_caught_up)
    pipeline.refresh_from_db()
    assert pipeline.problem == ""


def rows(spark: SparkSession, pipeline: Pipeline, *columns: str) -> list[tuple[Any, ...]]:
    spark.catalog.clearCache()
    frame = spark.read.format("hudi").load(CapturedTable.objects.get(pipeline=pipeline).location)
    return sorted(tuple(row) for row in frame.select(*columns).collect())


def test_a_shell_creates_a_pipeline_with_its_changelog_in_kafka(
    ods: str, kafka: Kafka, shop: Shop
) -> None:
    shop.run("create table orders (id int primary key)")
    asked = [
        *("shop", "--lake", LAKE, "--host", LOOPBACK, "--port", str(shop.server.port)),
        *("--user", CAPTURE_USER, "--password-name", "SHOP"),
        *("--server-id", str(shop.server_id), "--patterns", f"{shop.db}.*", "--target-db", ods),
        *("--changelog", "KAFKA", "--kafka-topic", f"changes.{shop.db}"),
    ]
    with pytest.raises(CommandError, match=r"Kafka at 127\.0\.0\.1:1 "):
        call_command("cdc_pipeline", *asked, "--kafka-servers", "127.0.0.1:1")
    assert not Pipeline.objects.exists()
    for _ in range(2):
        call_command("cdc_pipeline", *asked, "--kafka-servers", kafka.address)
    made = Pipeline.objects.get()
    assert made.spec.kafka == KafkaPlace(kafka.address, f"changes.{shop.db}")
    assert made.changelog == "KAFKA"


def test_changes_and_a_topic_come_through_kafka_into_the_lake(
    ods: str, kafka: Kafka, shop: Shop, spark: SparkSession
) -> None:
    shop.run(
        "create table orders (id int primary key, note varchar(20))",
        "insert into orders select seq, concat('n', seq) from seq_1_to_200",
    )
    changes = created(
        spec_of(
            {
                **{"name": "shop", "lake": LAKE, "host": LOOPBACK, "port": shop.server.port},
                **{"user": CAPTURE_USER, "password_name": "SHOP", "server_id": shop.server_id},
                **{"patterns": f"{shop.db}.*", "target_db": ods, "ssl_ca": ""},
                **{"table_type": "MERGE_ON_READ", "changelog": "KAFKA"},
                "kafka": {"servers": kafka.address, "topic": f"changes.{shop.db}"},
            }
        )
    )
    topic = f"events.{shop.db}"
    with closing(KafkaAdminClient(bootstrap_servers=kafka.address)) as admin:
        admin.create_topics(
            {topic: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True
        )
    events = created(
        topics_spec(
            {
                **{"name": "events", "lake": LAKE, "kafka": {"servers": kafka.address}},
                **{"patterns": topic, "target_db": ods, "table_type": "COPY_ON_WRITE"},
                "columns": "id bigint\nnote string",
            }
        )
    )
    with closing(KafkaProducer(bootstrap_servers=kafka.address)) as producer:
        for n in range(3):
            producer.send(topic, value=json.dumps({"id": n, "note": f"e{n}"}).encode())
        producer.flush()
    capture(changes, shop)
    apply()
    assert rows(spark, changes, "id", "note") == shop.rows("select * from orders order by id")

    shop.run("update orders set note = 'x' where id % 7 = 0", "delete from orders where id > 190")
    capture(changes, shop)
    apply()
    assert rows(spark, changes, "id", "note") == shop.rows("select * from orders order by id")
    assert rows(spark, events, "id", "note") == [(0, "e0"), (1, "e1"), (2, "e2")]
    events.refresh_from_db()
    assert (events.n_behind, events.n_rows, events.problem, events.apply_problem) == (0, 3, "", "")
    # What another pipeline wrote is not gone on with.
    again = source_test(replace(changes.spec, name="other"), by=BY)
    assert "kafka.used" in {one.code for one in again.findings}
    assert source_test(changes.spec, by=BY).is_good
