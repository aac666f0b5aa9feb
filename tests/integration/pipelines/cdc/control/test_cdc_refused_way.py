"""A table that was truncated, and changed beyond what the lake follows, begins anew."""

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.control.services.protections import table_protect
from pipelines.models import Pipeline, SchemaChange
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
_ASKED = "select id, qty from orders order by id"


def test_a_refused_change_holds_the_table_until_it_begins_anew(
    pipeline: Pipeline, shop: Shop, spark: SparkSession
) -> None:
    def stored(location: str) -> list[tuple[object, ...]]:
        spark.catalog.clearCache()
        rows = spark.read.format("hudi").load(location).select("id", "qty")
        return sorted(tuple(row) for row in rows.collect())

    capture(pipeline, shop)
    apply()
    first = orders()
    before = stored(first.location)
    assert before == shop.rows(_ASKED)

    shop.run(
        "truncate table orders",
        "insert into orders (id, qty) values (1, 10), (2, 20), (3, 30)",
        "alter table orders modify qty smallint",
        "insert into orders (id, qty) values (4, 40)",
    )
    capture(pipeline, shop)
    apply()
    assert stored(first.location) == before
    assert orders().n_aside == 4
    waiting = SchemaChange.objects.filter(decision="waiting")
    assert waiting.update(decision="refused", decided_by="ada") == 2

    now = timezone.now()
    assert table_protect(first, {}, partition="", reason="truncated", by=BY, now=now)
    shop.run("delete from orders where id = 2", "update orders set qty = 31 where id = 3")
    capture(pipeline, shop)
    apply()
    after = orders()
    assert (after.problem, after.first_schema) == ("", 3)
    assert after.location != first.location
    assert stored(after.location) == shop.rows(_ASKED)
    assert stored(first.location) == before

    # Changes go on, and nothing of the older schemas waits or comes back.
    shop.run("insert into orders (id, qty) values (5, 50)", "delete from orders where id = 1")
    capture(pipeline, shop)
    apply()
    assert stored(after.location) == shop.rows(_ASKED)
