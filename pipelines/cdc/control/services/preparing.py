"""Prepares the lake's table for a change of schema that has not run at the source yet.

The apply alters the table as it does for an approved change: by the columns of its order. Records
under the new schema are another matter: they wait until the change has come and is decided.
"""

from collections.abc import Sequence

import msgspec

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.control.domain.plans import DecidedSchema, Prepared
from pipelines.cdc.control.services.orders import plan_of
from pipelines.models import CapturedTable


def columns_ahead(table: CapturedTable, ahead: DecidedSchema) -> tuple[Column, ...]:
    """Return the columns of the lake's table that a change would add or widen."""
    stored = list(table.schemas.all())
    now = set(plan_of(table, stored).columns)
    return tuple(one for one in plan_of(table, stored, ahead).columns if one not in now)


def table_prepare(table: CapturedTable, ahead: DecidedSchema) -> None:
    """Order what a change needs of the lake's table; twice the second changes nothing.

    The caller has locked what the change belongs to, and no change of the table waits.
    """
    columns = columns_ahead(table, ahead)
    if columns:
        entry = msgspec.to_builtins(Prepared(table.schema_number, columns))
        table.prepared = [*table.prepared, entry]
        table.save(update_fields=["prepared"])


def is_prepared(table: CapturedTable) -> bool:
    """Whether the lake's table has all that was ordered, as the apply last told.

    A table without a row is not there yet: it is created with all columns.
    """
    if not table.n_upserts and not table.lake_columns:
        return True
    has = set(msgspec.convert(table.lake_columns, tuple[Column, ...]))
    return has >= set(ordered_columns(table))


def ordered_columns(table: CapturedTable) -> Sequence[Column]:
    """Return the columns that the lake's table is to have."""
    return plan_of(table, table.schemas.all()).columns
