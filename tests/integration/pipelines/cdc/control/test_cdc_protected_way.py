"""Protected columns all the way from a real MariaDB, and a change of them with a new load."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.capture.domain.findings import Level
from pipelines.cdc.control.services.pipelines import pipeline_edit
from pipelines.cdc.control.services.protections import table_protect
from pipelines.cdc.control.services.testing import source_test
from pipelines.cdc.protecting.jobs.reading import decrypted
from pipelines.models import Pipeline
from tests.integration.pipelines.cdc.control.test_cdc_whole_way import (
    BY,
    apply,
    capture,
    orders,
    pipeline,
)
from tests.support.captured import Shop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
__all__ = ["pipeline"]


def test_protected_columns_come_from_the_source_and_a_change_is_loaded_again(
    pipeline: Pipeline, shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DET", "PII"):
        key = base64.b64encode(name.encode().ljust(32)).decode()
        monkeypatch.setenv(f"LAKEWARDEN_CDC_KEY_{name}", key)
    shop.run(
        "alter table orders add day date not null default '2026-05-01'",
        "update orders set day = '2026-05-02' where id % 3 = 0",
    )
    name = f"{shop.db}.orders"
    spec = replace(
        pipeline.spec,
        protections={name: {"id": "deterministic:DET", "note": "encrypted:PII", "qty": "nullify"}},
        partitions={name: "day"},
    )
    found = {one.code: one.level for one in source_test(spec, by=BY).findings}
    assert found["protection"] is Level.OK
    pipeline_edit(pipeline, spec, version=0, by=BY, now=timezone.now())

    def stored() -> Any:
        spark.catalog.clearCache()
        return spark.read.format("hudi").load(orders().location)

    def plain() -> list[tuple[Any, ...]]:
        rows = decrypted(stored(), orders().target, ["id", "note"])
        rows = rows.select(F.col("id").cast("int"), "note", "day", "qty")
        return sorted(tuple(row) for row in rows.collect())

    capture(pipeline, shop)
    apply()
    asked = "select id, note, day, null from orders order by id"
    assert orders().problem == ""
    assert plain() == shop.rows(asked)
    assert {row["id"][:8] for row in stored().select("id").collect()} == {"lw2:DET."}
    partitions = {row[0] for row in stored().select("_hoodie_partition_path").collect()}
    assert partitions == {"day=2026-05-01", "day=2026-05-02"}

    shop.run(
        "update orders set note = 'changed', day = '2026-05-03' where id % 7 = 0",
        "delete from orders where id % 11 = 0",
        "update orders set id = id + 10000 where id % 13 = 0",
    )
    capture(pipeline, shop)
    apply()
    assert plain() == shop.rows(asked)

    before = orders()
    now = timezone.now()
    table_protect(before, {"note": "redact"}, partition="", reason="law", by=BY, now=now)
    shop.run("delete from orders where id = 1")
    capture(pipeline, shop)
    apply()
    after = orders()
    assert (after.problem, after.target_table) == ("", f"{shop.db}_orders")
    rows = stored().select("id", "qty", "note", "day").collect()
    assert sorted(tuple(row) for row in rows) == shop.rows(
        "select id, qty, 'xxxx', day from orders order by id"
    )
    assert spark.read.format("hudi").load(before.location).count() == len(rows) + 1
