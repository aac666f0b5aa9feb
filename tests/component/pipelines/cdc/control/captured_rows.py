"""Rows of captured tables for tests elsewhere."""

from datetime import datetime

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.models import SchemaChange
from portal.access.actors import Actor
from tests.unit.pipelines.cdc.control.test_spec import GOOD

_BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)


def waiting_change(n: int, now: datetime) -> SchemaChange:
    """Make the n-th change of a table of the pipeline `shop` that waits for a person."""
    shop = pipeline_create(spec_of({**GOOD, "target_db": "sales"}), by=_BY, now=now)
    schemas = [
        TableSchema(
            *("shop", "orders", number, number * 100),
            columns=(Column("id", "int"), Column("qty", "text" if number % 2 == 0 else "int")),
            key=("id",),
            ddl=f"ALTER TABLE orders MODIFY qty {'text' if number % 2 == 0 else 'int'}",
        )
        for number in range(1, n + 3)
    ]
    schemas_take(shop, schemas, now=now)
    return SchemaChange.objects.get(number=n + 2)
