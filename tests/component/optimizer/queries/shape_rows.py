"""Rows of the queries that cost most."""

from datetime import datetime
from typing import Any

from optimizer.models import TopShape, TopShapeTable


def top_shape(now: datetime, *tables: str, **values: Any) -> TopShape:
    """A shape that reads some tables whole."""
    fields = {
        "lake": "main",
        "digest": "5" * 32,
        "engine": "trino",
        "text": "SELECT count(*) FROM lake.sales.orders WHERE city = ?",
        "is_parsed": True,
        "names_all_tables": True,
        "n_queries": 40,
        "n_failed": 1,
        "seconds": 90.0,
        "seconds_lately": 60.0,
        "seconds_before": 30.0,
        "p50": 2.0,
        "p95": 4.5,
        "n_bytes": 4_000,
        "share": 0.9,
        "is_helped": False,
        "days": [{"day": "2026-11-20", "n_queries": 40, "seconds": 90.0, "n_bytes": 4_000}],
        "last_at": now,
        "analysed_at": now,
    }
    row = TopShape.objects.create(**{**fields, **values})
    for name in tables:
        db, _, table = name.partition(".")
        TopShapeTable.objects.create(shape=row, db=db, table=table)
    return row
