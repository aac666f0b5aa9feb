"""A pipeline from a database of the source to one of the embedded stack's lake."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control import run_kinds
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.testing import source_test
from pipelines.models import Pipeline
from portal.access.actors import Actor
from stack.process import LOOPBACK
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER
from stack.stack import LAKE, Stack
from tests.support.captured import Shop
from tests.support.scan_lake import ScanLake

BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)


@pytest.fixture
def create(
    embedded_stack: Stack,
    shop: Shop,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Pipeline]:
    """Run statements at the source, and return the pipeline `shop` that captures its database.

    Its changelog is one of files, or in Kafka at `kafka`.
    """
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", CAPTURE_PASSWORD)
    # The program ends once everything that is there is applied.
    monkeypatch.setattr(run_kinds, "STAY", timedelta(0))
    config = embedded_stack.config(LAKE)

    def created(*statements: str, kafka: KafkaPlace | None = None) -> Pipeline:
        lake = ScanLake(config, config.path(embedded_stack.lake_root).child("captured"))
        lake.database("ods", owner="alice")
        shop.run(*statements)
        spec = spec_of(
            {
                **{"name": "shop", "lake": LAKE, "host": LOOPBACK, "port": shop.server.port},
                **{"user": CAPTURE_USER, "password_name": "SHOP", "server_id": shop.server_id},
                **{"patterns": f"{shop.db}.*", "target_db": lake.db_name("ods"), "ssl_ca": ""},
                **{"table_type": "MERGE_ON_READ"},
                **{"changelog": "KAFKA" if kafka else "DIRECTORY"},
                "kafka": msgspec.to_builtins(kafka),
            }
        )
        assert source_test(spec, by=BY).findings
        return pipeline_create(spec, by=BY, now=timezone.now())

    return created
