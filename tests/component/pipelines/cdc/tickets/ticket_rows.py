"""A captured table with rows in the lake, and tickets of it."""

from datetime import datetime
from typing import Any

from pipelines.cdc.applying.domain.messages import Column as LakeColumn
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.tickets.services.opening import Wanted
from pipelines.models import CapturedTable, Pipeline
from tests.component.pipelines.cdc.control.test_pipelines import ADA
from tests.unit.pipelines.cdc.control.test_spec import GOOD


def schema(number: int = 1, *, ddl: str = "", **columns: str) -> TableSchema:
    """Return a schema of `orders` as a server tells it: a column of the key is never NULL."""
    others = {"qty": "int(11)", **columns}
    made = tuple(Column(name, kind) for name, kind in others.items())
    key = Column("id", "int(11)", is_nullable=False)
    return TableSchema("shop", "orders", number, number * 100, (key, *made), ("id",), ddl)


def shop_with_rows(now: datetime) -> Pipeline:
    """Make the pipeline `shop` with the table `orders`, as if changes of it were applied."""
    made = pipeline_create(spec_of(GOOD), by=ADA, now=now)
    schemas_take(made, [schema()], now=now)
    CapturedTable.objects.update(location="file:/ods/orders", n_upserts=3)
    in_the_lake(id="int", qty="int")
    return made


def in_the_lake(**columns: str) -> None:
    """Say that the lake's table has these columns."""
    has = [LakeColumn(name, kind) for name, kind in columns.items()]
    told = [{"name": one.name, "type": one.type} for one in has]
    CapturedTable.objects.update(lake_columns=told)


def wanted(actions: str, **more: Any) -> Wanted:
    """Announce an ALTER TABLE of `orders`."""
    fields: dict[str, Any] = {"reason": "the shop grows", **more}
    return Wanted("shop", "orders", f"ALTER TABLE orders {actions}", **fields)
