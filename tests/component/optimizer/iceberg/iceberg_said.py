"""What the metastore says of Iceberg tables, for tests without a metastore.

The form is that of real messages;
tests/unit/optimizer/iceberg/tables/test_optimizer_heard.py reads recorded ones.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from portal.events.messages import LakeEvent

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
CLICKS = "0b0c5a4e-0000-4000-8000-000000000001"
OTHER = "0b0c5a4e-0000-4000-8000-000000000002"


def at(minutes: float) -> datetime:
    """Return an instant so long after NOW."""
    return NOW + timedelta(minutes=minutes)


def parameters(
    version: int, *, uuid: str = CLICKS, summary: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return the parameters of a table after its commit number `version`; 0 is still empty."""
    found = {
        "table_type": "ICEBERG",
        "uuid": uuid,
        "metadata_location": f"file:/lake/{uuid}/metadata/{version:05}.json",
        "snapshot-count": str(version),
        "current-schema": json.dumps({"fields": [{"id": 1, "name": "id", "type": "long"}]}),
    }
    if version:
        said = {"added-data-files": 1, "added-files-size": 1000} if summary is None else summary
        totals = {"total-data-files": version, "total-files-size": 1000 * version}
        texts = {key: str(value) for key, value in {**totals, **said}.items()}
        found |= {
            "current-snapshot-id": str(7000 + version),
            "current-snapshot-timestamp-ms": str(int(at(version).timestamp() * 1000)),
            "current-snapshot-summary": json.dumps(texts),
        }
    return found


def table_object(parameters: Mapping[str, str], *, db: str, table: str, owner: str = "olga") -> str:
    """Write a table as Hive's message holds it: Thrift in JSON."""
    return json.dumps(
        {
            "1": {"str": table},
            "2": {"str": db},
            "3": {"str": owner},
            "7": {"rec": {"2": {"str": f"file:/lake/{table}"}}},
            "9": {"map": ["str", "str", len(parameters), dict(parameters)]},
        }
    )


def event(
    kind: str, message: Mapping[str, Any], *, table: str = "clicks", **more: Any
) -> LakeEvent:
    """Return an event of the database shop."""
    return LakeEvent("main", 7, NOW, kind, "shop", table, message=message, **more)


def created(after: Mapping[str, str], *, table: str = "clicks", owner: str = "olga") -> LakeEvent:
    """Return the event of a CREATE TABLE."""
    text = table_object(after, db="shop", table=table, owner=owner)
    return event("CREATE_TABLE", {"tableObjJson": text}, table=table)


def altered(
    before: Mapping[str, str], after: Mapping[str, str], *, table: str = "clicks", former: str = ""
) -> LakeEvent:
    """Return the event of a commit, or of a rename where `former` is the old name."""
    message = {
        "tableObjBeforeJson": table_object(before, db="shop", table=former or table),
        "tableObjAfterJson": table_object(after, db="shop", table=table),
    }
    more = {"former": ("shop", former)} if former else {}
    return event("ALTER_TABLE", message, table=table, **more)


def dropped(table: str = "clicks") -> LakeEvent:
    """Return the event of a DROP TABLE."""
    return event("DROP_TABLE", {}, table=table)
