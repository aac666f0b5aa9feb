"""What an address of change capture can name: pipelines, a table, a request about a schema."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.schema_requests.services import requests_open
from pipelines.cdc.tickets.services.opening import Wanted, ticket_open
from pipelines.incremental.services.schemas import schema_requests_open
from pipelines.models import (
    CapturedTable,
    DifferingKey,
    Layer,
    LayerSchemaRequest,
    LayerSource,
    Materialization,
    MaterializationAdvice,
    Pipeline,
    SchemaRequest,
    TableComparison,
)
from portal.access.actors import Actor
from tests.security.pipelines_grid import API_LAYER, NEW, SERVER

_BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
_REQUESTER = Actor("anna", is_staff=True, is_admin=True)
_FIRST = (Column("id", "int(11)", is_nullable=False), Column("qty", "int(11)"))
_ADDED = (*_FIRST, Column("phone", "varchar(20)"))
_RISKY = (_FIRST[0], Column("qty", "varchar(9)"), Column("phone", "varchar(20)"))


def pipelines_values(now: datetime) -> Mapping[str, Any]:
    """Make a pipeline with a table whose newest schema waits, and one that is paused."""
    shop = _pipeline("shop", 7001, now)
    resting = _pipeline("resting", 7002, now)
    Pipeline.objects.filter(pk=resting.pk).update(desired=Desired.PAUSED.value)
    statements = ("", "ALTER TABLE orders ADD phone varchar(20)", "ALTER TABLE orders MODIFY qty "
                  "varchar(9)")  # fmt: skip
    schemas = [
        TableSchema("shop", "orders", number, number * 100, columns, ("id",), ddl)
        for number, (columns, ddl) in enumerate(
            zip((_FIRST, _ADDED, _RISKY), statements, strict=True), start=1
        )
    ]
    others = [TableSchema("shop", one, 1, 100, _FIRST, ("id",)) for one in ("items", "spare")]
    schemas_take(shop, [*schemas, *others], now=now)
    requests_open("main", now=now)
    request = SchemaRequest.objects.get()
    wanted = Wanted("shop", "items", "ALTER TABLE items DROP qty", "not read")
    ticket = ticket_open(shop, wanted, by=_REQUESTER, now=now)
    orders = CapturedTable.objects.get(table="orders")
    comparison = TableComparison.objects.create(
        captured=orders,
        run="1",
        requested_by="ada",
        compared_at=now,
        state="different",
        n_extra=1,
    )
    DifferingKey.objects.create(comparison=comparison, kind="extra", key={"id": "7"})
    kept = Materialization.objects.create(
        lake="main",
        db="sales",
        table="kept",
        location="file:/lake/sales.db/kept",
        identity=UUID(int=7),
        owner="alice",
        sql="SELECT dt, max(id) AS n FROM sales.orders GROUP BY dt",
        set_by="alice",
        set_at=now,
        next_at=now,
    )
    return {
        "materialization_id": kept.pk,
        "materialization_advice_id": _advice(kept, now=now, gives_up=False),
        "unread_advice_id": _advice(kept, now=now, gives_up=True),
        "pipeline_name": shop.name,
        "paused_pipeline": resting.name,
        "captured_id": orders.pk,
        "comparison_id": comparison.pk,
        "schema_request_id": request.pk,
        "schema_digest": request.digest,
        "schema_ticket_id": ticket.pk,
        "ticket_digest": ticket.digest,
        **_layers(now),
    }


def _advice(kept: Materialization, *, now: datetime, gives_up: bool) -> int:
    """Make an advice on `sales.orders`, to define what is kept or to pause it; return its id."""
    row = MaterializationAdvice.objects.create(
        **{"lake": "main", "db": "sales", "table": "orders", "gives_up": gives_up},
        **{"materialization": kept if gives_up else None, "name": "sales.kept", "sql": kept.sql},
        **{"digest": str(gives_up), "reason": "Read again and again.", "n_queries": 40},
        **{"n_days": 5, "n_bytes": 1_000, "made_at": now, "confirmed_at": now},
    )
    return row.pk


def _layers(now: datetime) -> dict[str, Any]:
    """Return a layer whose source's columns wait, and one that is paused."""
    rows = []
    for number, name in enumerate(("made", "resting"), 1):
        definition = {**API_LAYER, "target": f"shop.{name}"}
        row = Layer.objects.create(
            lake="main",
            db="shop",
            table=name,
            definition=definition,
            location=f"/warehouse/{name}",
            next_at=now,
            set_by="ada",
            set_at=now,
            is_paused=number == 2,
        )
        rows.append(row)
    edge = LayerSource.objects.create(
        layer=rows[0],
        db="shop",
        table="orders",
        schema=[["id", "int"]],
        found_schema=[["id", "int"], ["vat", "int"]],
    )
    schema_requests_open("main", now=now)
    request = LayerSchemaRequest.objects.get()
    return {
        "layer_id": rows[0].pk,
        "paused_layer": rows[1].pk,
        "layer_edge": edge.pk,
        "layer_request_id": request.pk,
        "layer_digest": request.digest,
    }


def _pipeline(name: str, server_id: int, now: datetime) -> Pipeline:
    spec = spec_of({**NEW, **SERVER, "name": name, "port": 1, "server_id": server_id})
    return pipeline_create(spec, by=_BY, now=now)
