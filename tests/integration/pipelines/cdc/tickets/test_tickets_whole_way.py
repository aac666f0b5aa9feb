"""A DDL that was announced holds nothing on MariaDB and Hudi; another than announced does."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.control import run_kinds
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import TableState
from pipelines.cdc.control.selectors.pipelines import table_row
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.tickets.services.following import tickets_follow
from pipelines.cdc.tickets.services.opening import Wanted, ticket_open
from pipelines.cdc.tickets.services.tickets import TICKETS
from pipelines.models import Pipeline, SchemaTicket
from portal.access.models import User
from portal.access.services import person_create
from portal.approvals.domain import DecisionInput
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive
from stack.process import LOOPBACK
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER
from stack.stack import LAKE, Stack
from tests.integration.pipelines.cdc.control.test_cdc_whole_way import (
    BY,
    apply,
    capture,
    in_the_lake,
    orders,
)
from tests.support.captured import Shop
from tests.support.scan_lake import ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


@pytest.fixture
def pipeline(
    embedded_stack: Stack, shop: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Pipeline:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", CAPTURE_PASSWORD)
    monkeypatch.setattr(run_kinds, "STAY", timedelta(0))
    config = embedded_stack.config(LAKE)
    lake = ScanLake(config, config.path(embedded_stack.lake_root).child("announced"))
    lake.database("announced", owner="alice")
    shop.run(
        "create table orders (id int primary key, qty int, price decimal(10,4), note varchar(20))",
        "insert into orders select seq, seq, seq + if(seq % 5 = 0, 0.125, 0.5), 'n' "
        "from seq_1_to_100",
    )
    spec = spec_of(
        {
            **{"name": "shop", "lake": LAKE, "host": LOOPBACK, "port": shop.server.port},
            **{"user": CAPTURE_USER, "password_name": "SHOP", "server_id": shop.server_id},
            **{"patterns": f"{shop.db}.*", "target_db": lake.db_name("announced"), "ssl_ca": ""},
            **{"table_type": "MERGE_ON_READ", "changelog": "DIRECTORY"},
        }
    )
    return pipeline_create(spec, by=BY, now=timezone.now())


def announce(pipeline: Pipeline, shop: Shop, statement: str, **choices: str) -> SchemaTicket:
    wanted = Wanted(shop.db, "orders", statement, "the shop grows", choices)
    return ticket_open(pipeline, wanted, by=BY, now=timezone.now())


def approve(ticket: SchemaTicket, by: User) -> None:
    answer, now = DecisionInput(decision="APPROVE", reason="", digest=ticket.digest), timezone.now()
    TICKETS.decide(ticket.pk, user=by, answer=answer, authenticated_at=now, now=now)


def test_an_announced_change_holds_nothing_and_another_one_does(
    pipeline: Pipeline, shop: Shop, spark: SparkSession
) -> None:
    ben = person_create("ben", password="correct horse staple", email="b@b.org", roles=["admin"])
    capture(pipeline, shop)
    apply()
    assert {one["name"] for one in orders().lake_columns} == {"id", "qty", "price", "note"}

    statement = (
        "ALTER TABLE orders MODIFY price decimal(10,2), MODIFY qty bigint, ADD phone varchar(20)"
    )
    ticket = announce(pipeline, shop, statement, phone="plain")
    assert ticket.change_class == "person"
    assert ticket.dry_run is not None
    run = run_drive(ticket.dry_run)
    assert run.state == RunState.DONE, run.error
    ticket.refresh_from_db()
    assert ticket.counted == {
        "n_rows": 100,
        "n_lost": 20,
        "columns": [
            {"column": "price", "old": "decimal(10,4)", "new": "decimal(10,2)", "n_lost": 20}
        ],
    }
    approve(ticket, ben)
    before = in_the_lake(spark, "qty", "price", "note")
    apply()
    tickets_follow(LAKE, now=timezone.now())
    ticket.refresh_from_db()
    assert ticket.state == "RELEASED"
    told = {one["name"]: one["type"] for one in orders().lake_columns}
    assert told == {
        **{"id": "int", "qty": "bigint", "price": "decimal(10,4)", "note": "string"},
        **{"price_2": "decimal(10,2)", "phone": "string"},
    }
    assert in_the_lake(spark, "qty", "price", "note") == before

    shop.run(
        "update orders set note = 'before' where id = 1",
        statement,
        "update orders set qty = 5000000000, price = 7.25, phone = '123' where id = 2",
    )
    capture(pipeline, shop)
    ticket.refresh_from_db()
    assert (ticket.state, ticket.seen_number) == ("APPLIED", 2)
    apply()
    assert table_row(orders()).state is TableState.LIVE
    assert orders().n_aside == 0
    assert in_the_lake(spark, "qty", "note", "phone") == shop.rows(
        "select id, qty, note, phone from orders order by id"
    )
    assert [str(row[1]) for row in in_the_lake(spark, "price_2") if row[1] is not None] == ["7.25"]

    other = announce(pipeline, shop, "ALTER TABLE orders MODIFY note varchar(40)")
    assert other.state == "APPROVED"
    shop.run("alter table orders modify note varchar(10)")
    capture(pipeline, shop)
    other.refresh_from_db()
    assert other.state == "DIFFERED"
    assert "varchar(10)" in other.note
    assert table_row(orders()).state is TableState.HELD
