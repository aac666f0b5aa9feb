"""Changes of a real MariaDB come into a Hudi table; a risky DDL waits until somebody says yes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.control import run_kinds
from pipelines.cdc.control.domain.states import TableState
from pipelines.cdc.control.selectors.pipelines import table_row, tables_of
from pipelines.cdc.control.services.capturing import pipeline_capture
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.cdc.schema_requests.services import REQUESTS, requests_open
from pipelines.models import CapturedTable, Pipeline, SchemaRequest
from portal.access.actors import Actor
from portal.access.services import person_create
from portal.approvals.domain import DecisionInput
from portal.runs.claims.leases import new_holder
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive, run_request
from stack.stack import LAKE
from tests.support.captured import Shop, is_caught_up

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]

BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)


@pytest.fixture
def pipeline(create: Callable[..., Pipeline]) -> Pipeline:
    return create(
        "create table orders (id int primary key, qty int, note varchar(20))",
        "insert into orders select seq, seq * 2, concat('n', seq) from seq_1_to_500",
        "create table log (line text)",
    )


def capture(pipeline: Pipeline, shop: Shop) -> None:
    there, log = shop.position(), open_changelog(pipeline)
    assert isinstance(log, DirectoryLog)
    pipeline_capture("shop", holder=new_holder(), is_ended=lambda: is_caught_up(log, there))
    pipeline.refresh_from_db()
    assert pipeline.problem == ""


def apply() -> None:
    now = timezone.now()
    run = run_drive(
        run_request(run_kinds.APPLY_KIND, lake=LAKE, params={}, requested_by="test", now=now).pk
    )
    assert run.state == RunState.DONE, run.error


def orders() -> CapturedTable:
    return tables_of(Pipeline.objects.get()).get(table="orders")


def in_the_lake(spark: SparkSession, *columns: str) -> list[tuple[Any, ...]]:
    spark.catalog.clearCache()
    rows = spark.read.format("hudi").load(orders().location).select("id", *columns)
    return sorted(tuple(row) for row in rows.collect())


def test_changes_come_into_the_lake_and_a_risky_one_waits(
    pipeline: Pipeline, shop: Shop, spark: SparkSession
) -> None:
    capture(pipeline, shop)
    told = {row.table: table_row(row) for row in tables_of(pipeline)}
    assert told["log"].state is TableState.REFUSED
    assert (told["orders"].state, told["orders"].table.n_loaded) == (TableState.WAITING, 500)
    apply()
    assert table_row(orders()).state is TableState.LIVE
    assert in_the_lake(spark, "qty", "note") == shop.rows("select * from orders order by id")

    shop.run(
        "update orders set note = 'changed' where id % 7 = 0",
        "delete from orders where id % 11 = 0",
        "update orders set id = id + 10000 where id % 13 = 0",
        "alter table orders add phone varchar(20)",
        "update orders set phone = '123' where id = 1",
    )
    capture(pipeline, shop)
    apply()
    assert in_the_lake(spark, "qty", "note") == shop.rows(
        "select id, qty, note from orders order by id"
    )
    assert (orders().n_deletes, orders().applied_batch) == (45 + 35, pipeline.batch)

    column_choose(orders(), "phone", "plain", reason="no person's", by=BY, now=timezone.now())
    apply()
    assert in_the_lake(spark, "phone") == shop.rows("select id, phone from orders order by id")

    before = in_the_lake(spark, "qty", "note")
    shop.run(
        "alter table orders modify qty varchar(20)",
        "update orders set qty = 'many' where id = 2",
        "insert into orders values (777777, 'few', 'new', null)",
    )
    capture(pipeline, shop)
    requests_open(LAKE, now=timezone.now())
    apply()
    assert table_row(orders()).state is TableState.HELD
    assert in_the_lake(spark, "qty", "note") == before
    assert orders().n_aside == 2

    ben = person_create("ben", password="correct horse staple", email="b@b.org", roles=["admin"])
    request, now = SchemaRequest.objects.get(), timezone.now()
    answer = DecisionInput(decision="APPROVE", reason="", digest=request.digest)
    REQUESTS.decide(request.pk, user=ben, answer=answer, authenticated_at=now, now=now)
    apply()
    assert table_row(orders()).state is TableState.LOADING
    assert in_the_lake(spark, "note") == shop.rows("select id, note from orders order by id")
    texts = {row[0]: row[1] for row in in_the_lake(spark, "qty_3") if row[1]}
    assert texts == {2: "many", 777777: "few"}
    assert orders().n_aside == 0

    capture(pipeline, shop)  # the table is loaded again, for no record has the other rows' texts
    apply()
    assert table_row(orders()).state is TableState.LIVE
    assert in_the_lake(spark, "qty_3") == shop.rows("select id, qty from orders order by id")
