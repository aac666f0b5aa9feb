"""Tables of the catalog for tests of their pages."""

from datetime import UTC, datetime
from typing import Any

from portal.catalog.models import Table

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def listed(name: str, *, db: str = "shop", owner: str = "olga", **values: Any) -> Table:
    """A table that the catalog knows; `deleted_at` makes it one that was dropped."""
    gone = values.get("deleted_at") is not None
    fields = {
        "lake": "main",
        "format": "parquet",
        "event_id": 1,
        "first_seen_at": NOW,
        "last_seen_at": NOW,
        "is_living": None if gone else True,
        **values,
    }
    return Table.objects.create(db=db, name=name, owner=owner, **fields)
