"""Events of tables as the metastore writes them, for tests without a metastore."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from portal.catalog.services.event_handlers import on_events
from portal.events.messages import LakeEvent

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
UUID = "0b0c5a4e-0000-4000-8000-000000000001"


def at(minutes: float) -> datetime:
    """Return an instant so long after NOW."""
    return NOW + timedelta(minutes=minutes)


def table_object(
    table: str, *, db: str = "shop", owner: str = "olga", uuid: str = "", place: str = ""
) -> str:
    """Write a table as Hive's message holds it; one with a uuid is an Iceberg table."""
    parameters = {"table_type": "ICEBERG", "uuid": uuid, "metadata_location": "x"} if uuid else {}
    return json.dumps(
        {
            "1": {"str": table},
            "2": {"str": db},
            "3": {"str": owner},
            "4": {"i32": 1_795_393_115},
            "7": {"rec": {"2": {"str": place or f"file:/lake/{db}/{table}"}}},
            "9": {"map": ["str", "str", len(parameters), parameters]},
            "12": {"str": "EXTERNAL_TABLE"},
        }
    )


def event(
    event_id: int,
    kind: str,
    message: Mapping[str, Any],
    table: str,
    *,
    db: str = "shop",
    **more: Any,
) -> LakeEvent:
    """Return an event of the lake main."""
    return LakeEvent("main", event_id, NOW, kind, db, table, message=message, **more)


def created(event_id: int, table: str, *, db: str = "shop", **more: Any) -> LakeEvent:
    """Return the event of a CREATE TABLE."""
    text = table_object(table, db=db, **more)
    return event(event_id, "CREATE_TABLE", {"tableObjJson": text}, table, db=db)


def altered(event_id: int, table: str, *, was: Mapping[str, Any], **more: Any) -> LakeEvent:
    """Return the event of a change, where `was` differs before it."""
    message = {
        "tableObjBeforeJson": table_object(table, **{**more, **was}),
        "tableObjAfterJson": table_object(table, **more),
    }
    return event(event_id, "ALTER_TABLE", message, table)


def renamed(event_id: int, former: str, table: str, *, db: str = "shop", **more: Any) -> LakeEvent:
    """Return the event of a rename within shop, or into another database."""
    message = {
        "tableObjBeforeJson": table_object(former, **more),
        "tableObjAfterJson": table_object(table, db=db, **more),
    }
    return event(event_id, "ALTER_TABLE", message, table, db=db, former=("shop", former))


def dropped(event_id: int, table: str) -> LakeEvent:
    """Return the event of a DROP TABLE."""
    return event(event_id, "DROP_TABLE", {"tableObjJson": table_object(table)}, table)


def hear(*events: LakeEvent, minutes: float = 0) -> None:
    """Take events in, as the follower does."""
    on_events(events, at(minutes))
