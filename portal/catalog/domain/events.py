"""Parses metastore events into changes of the catalog. Pure.

Nearly every commit to an Iceberg or Hudi table is an ALTER TABLE; one that changes nothing the
catalog keeps is no change, so that a busy table costs no writes here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from portal.catalog.domain.entries import Name, TableChange, TableFacts
from portal.lake.formats import VIEWS, effective_location, judge_format
from portal.lake.places import DEFAULT_CATALOG
from portal.lake.thrift_json import map_in, struct_in, text_in

CREATED, ALTERED, DROPPED = "CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE"
EVENT_TYPES = frozenset({CREATED, ALTERED, DROPPED})
UUID = "uuid"
"""The parameter in which Iceberg's own Hive catalog writes a table's uuid."""

ICEBERG = "iceberg"
_LONGEST_UUID = 36
_LAST_SECOND = 253_000_000_000
# Fields of the metastore's Thrift structures.
_OWNER, _CREATED_AT, _STORAGE, _PARAMETERS, _TYPE, _CATALOG = "3", "4", "7", "9", "12", "17"
_LOCATION, _INPUT_FORMAT, _SERDE = "2", "3", "7"
_SERDE_LIBRARY, _SERDE_PARAMETERS = "2", "3"


@dataclass(frozen=True, slots=True)
class _MessageTable:
    """A message's table; `facts` is None for a view, another catalog's table, and where none is."""

    facts: TableFacts | None = None
    created_at: datetime | None = None


def table_change(
    event_id: int,
    event_type: str,
    name: Name,
    message: Mapping[str, Any],
    *,
    former: Name | None = None,
) -> TableChange | None:
    """Read what an event did; None where it changes nothing that the catalog keeps.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: a message of another form.
    """
    if event_type == ALTERED:
        before = _parsed(message.get("tableObjBeforeJson")).facts
        after = _parsed(message.get("tableObjAfterJson")).facts
        is_change = before != after or (after is not None and former is not None)
        return TableChange(event_id, *name, after, former) if is_change else None
    text = message.get("tableObjJson")
    found = _parsed(text)
    if event_type == DROPPED:
        return None if text and found.facts is None else TableChange(event_id, *name)
    if found.facts is None:
        return None
    return TableChange(event_id, *name, found.facts, is_created=True, created_at=found.created_at)


def uuid_of(table_format: str, parameters: Mapping[str, str]) -> str:
    """Return the uuid of a table whose format has one that the metastore knows."""
    return (parameters.get(UUID) or "")[:_LONGEST_UUID] if table_format == ICEBERG else ""


def created_instant(seconds: int | None) -> datetime | None:
    """Return the metastore's time of a table's creation; 0 is not told."""
    if not seconds or not 0 < seconds < _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC)


def _parsed(text: Any) -> _MessageTable:
    if not text:
        return _MessageTable()
    table = json.loads(text, strict=False)
    table_type, catalog = text_in(table, _TYPE), text_in(table, _CATALOG)
    if table_type in VIEWS or catalog not in ("", DEFAULT_CATALOG):
        return _MessageTable()
    storage = struct_in(table, _STORAGE)
    serde = struct_in(storage, _SERDE)
    parameters = map_in(table, _PARAMETERS)
    judged = judge_format(
        table_type,
        parameters,
        serde=text_in(serde, _SERDE_LIBRARY),
        input_format=text_in(storage, _INPUT_FORMAT),
    )
    place = effective_location(
        text_in(storage, _LOCATION), map_in(serde, _SERDE_PARAMETERS), parameters
    )
    uuid = uuid_of(judged.format, parameters)
    facts = TableFacts(judged.format, uuid, place or "", text_in(table, _OWNER))
    return _MessageTable(facts, created_instant(table.get(_CREATED_AT, {}).get("i32")))
