"""Rows that tests of Hudi tables begin with."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.models import HudiTable, StoredInspection

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def hudi(name: str = "clicks", *, now: datetime = NOW, **values: Any) -> HudiTable:
    """A table of olga that was heard of and never looked at."""
    location = values.pop("location", f"file:/lake/{name}")
    fields = {
        "lake": "main",
        "db": "shop",
        "owner": "olga",
        "location": location,
        "place": sha256(location.encode()).hexdigest(),
        "event_at": now,
    }
    return HudiTable.objects.create(table=name, **{**fields, **values})


def keep_look(of: HudiTable, look: HudiInspection) -> StoredInspection:
    """Keep a look as the last one of a table."""
    return StoredInspection.objects.create(
        table=of, at=look.inspected_at, packed=StoredInspection.pack(look)
    )
