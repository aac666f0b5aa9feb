"""What the metastore says of Hudi tables, for tests without a metastore.

The form is that of real messages;
tests/integration/optimizer/hudi/tables/test_optimizer_hudi_known.py reads real ones.
"""

import json
from collections.abc import Mapping
from typing import Any

from portal.events.messages import LakeEvent
from tests.component.optimizer.iceberg.iceberg_said import event

READER = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"


def table_object(
    table: str, place: str, *, provider: str = "hudi", reader: str = READER, path: str = ""
) -> str:
    """Write a table of olga's in shop as Hive's message holds it: Thrift in JSON."""
    parameters = {"spark.sql.sources.provider": provider} if provider else {}
    serde = {"path": path} if path else {}
    return json.dumps(
        {
            "1": {"str": table},
            "2": {"str": "shop"},
            "3": {"str": "olga"},
            "7": {
                "rec": {
                    "2": {"str": place},
                    "3": {"str": reader},
                    "7": {"rec": {"3": {"map": ["str", "str", len(serde), serde]}}},
                }
            },
            "9": {"map": ["str", "str", len(parameters), parameters]},
        }
    )


def created(table: str, place: str, **signs: str) -> LakeEvent:
    """Return the event of a CREATE TABLE."""
    return event("CREATE_TABLE", {"tableObjJson": table_object(table, place, **signs)}, table=table)


def altered(table: str, place: str, *, was: str = "", former: str = "") -> LakeEvent:
    """Return the event of a change: of a place where `was` is the old one, or of the name."""
    message = {
        "tableObjBeforeJson": table_object(former or table, was or place),
        "tableObjAfterJson": table_object(table, place),
    }
    more: Mapping[str, Any] = {"former": ("shop", former)} if former else {}
    return event("ALTER_TABLE", message, table=table, **more)


def dropped(table: str, place: str) -> LakeEvent:
    """Return the event of a DROP TABLE."""
    return event("DROP_TABLE", {"tableObjJson": table_object(table, place)}, table=table)
