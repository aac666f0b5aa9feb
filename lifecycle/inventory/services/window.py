"""Loads which items of a table are due now or soon, and how new the newest of them is.

A notice covers items that existed when the scan read them. Three bounds per table tell whether an
earlier notice still covers all of them, without looking at single items.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import ScanSnapshot, TableFinding
from portal.access.lakes import get_lake
from portal.runs.results.parquet import CHUNK, result_tables

WINDOW = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)
COLUMNS = ("tbl_id", "cls", "due_on", "create_time", "updated_ms")


def window_load(generation: ScanSnapshot) -> None:
    """Store the bounds on the generation's tables."""
    bounds = {row["tbl_id"]: row for row in _bounds(generation)}
    keys = sorted(bounds)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        tables = TableFinding.objects.filter(generation=generation, tbl_id__in=part)
        with transaction.atomic():
            TableFinding.objects.bulk_update(
                [_with_bounds(table, bounds[table.tbl_id]) for table in tables],
                ["window_due_last_on", "window_created_at", "window_updated_at"],
                batch_size=200,
            )


def _bounds(generation: ScanSnapshot) -> Iterator[dict[str, Any]]:
    config = get_lake(generation.lake)
    tables = [
        table.filter(pc.field("cls").isin([cls.value for cls in WINDOW]))
        for table in result_tables(config, generation.results_uri, "items", columns=COLUMNS)
    ]
    if not tables:
        return
    grouped = (
        pa.concat_tables(tables)
        .group_by("tbl_id")
        .aggregate([("due_on", "max"), ("create_time", "max"), ("updated_ms", "max")])
    )
    yield from grouped.to_pylist()


def _with_bounds(table: TableFinding, row: dict[str, Any]) -> TableFinding:
    created, updated_ms = row["create_time_max"], row["updated_ms_max"]
    table.window_due_last_on = row["due_on_max"]
    table.window_created_at = created and datetime.fromtimestamp(created, tz=UTC)
    table.window_updated_at = updated_ms and datetime.fromtimestamp(updated_ms / 1000, tz=UTC)
    return table
