"""The portal's database goes back to a backup while a captured source and the lake went on."""

from collections.abc import Callable

import pytest
from django.apps import apps
from django.core import serializers
from django.db.models import Model
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.control.domain.states import TableState
from pipelines.cdc.control.selectors.pipelines import table_row
from pipelines.cdc.control.services.capturing import pipeline_capture
from pipelines.cdc.control.services.pipelines import pipeline_reload
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.models import Pipeline
from portal.runs.claims.leases import new_holder
from portal.runs.models import Lease, Run
from tests.integration.pipelines.cdc.control.test_cdc_whole_way import (
    BY,
    apply,
    capture,
    in_the_lake,
    orders,
)
from tests.support.captured import Shop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


def models() -> list[type[Model]]:
    """Return what is restored, rows that others point to first."""
    return [Lease, Run, *apps.get_app_config("pipelines").get_models()]


def backed_up() -> str:
    rows = [row for model in models() for row in model._default_manager.order_by("pk")]
    return str(serializers.serialize("json", rows))


def restore(copy: str) -> None:
    for model in reversed(models()):
        model._default_manager.all().delete()
    for row in serializers.deserialize("json", copy):
        row.save()


def end_of(pipeline: Pipeline) -> int:
    end = open_changelog(pipeline).end()
    assert end is not None
    return end[0]


def test_after_a_restore_nothing_is_lost_and_nothing_is_written_twice(
    create: Callable[..., Pipeline], shop: Shop, spark: SparkSession
) -> None:
    pipeline = create(
        "create table orders (id int primary key, qty int)",
        "insert into orders select seq, seq * 2 from seq_1_to_100",
    )
    capture(pipeline, shop)
    apply()
    copy = backed_up()

    # After the backup: rows, deletes, and a column that the lake's table gets.
    shop.run(
        "update orders set qty = 7 where id % 3 = 0",
        "delete from orders where id % 10 = 0",
        "insert into orders values (1000, 1)",
    )
    capture(pipeline, shop)
    apply()
    after = end_of(pipeline)
    restore(copy)
    pipeline = Pipeline.objects.get()
    assert pipeline.batch < after

    # The changelog knows where the source was read to, and the lake what is applied.
    shop.run("update orders set qty = 8 where id = 1000", "delete from orders where id = 3")
    capture(pipeline, shop)
    apply()
    assert after < end_of(pipeline) == pipeline.batch == orders().applied_batch
    assert table_row(orders()).state is TableState.LIVE
    assert in_the_lake(spark, "qty") == shop.rows("select * from orders order by id")
    # Only what came after the restore was written once more.
    assert orders().n_deletes <= 1 + 10


def test_tables_that_were_loaded_again_after_the_backup_are_loaded_once_more(
    create: Callable[..., Pipeline], shop: Shop
) -> None:
    pipeline = create("create table orders (id int primary key, qty int)")
    capture(pipeline, shop)
    copy = backed_up()
    pipeline_reload(pipeline, reason="the log was purged", by=BY, now=timezone.now())
    capture(Pipeline.objects.get(), shop)
    restore(copy)

    pipeline_capture("shop", holder=new_holder(), is_ended=lambda: False)
    held = Pipeline.objects.get()
    assert held.problem_code == "cdc.epoch"
    assert "Press Load every table again" in held.problem
    pipeline_reload(held, reason="restored", by=BY, now=timezone.now())
    shop.run("insert into orders values (1, 1)")
    capture(Pipeline.objects.get(), shop)
    assert Pipeline.objects.get().problem == ""
