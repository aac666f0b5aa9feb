"""Parses what the metastore says of an Iceberg table, in an event's message or its parameters.

Writers that use Iceberg's own Hive catalog put the snapshot with its summary into the table's
parameters. Others (Trino) change `metadata_location` alone and leave the rest as it was: there only
the fact of a change is heard, and the look at the table's metadata finds what it was.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from portal.lake.lines import fitted
from portal.lake.thrift_json import map_in, text_in

# What a commit of ours carries in its snapshot's summary; its value is the task's id.
TASK_KEY = "lakewarden.task-id"
EVENT_TYPES = frozenset({"CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE"})
PARAMETERS = (
    "uuid",
    "current-snapshot-id",
    "current-snapshot-timestamp-ms",
    "current-snapshot-summary",
    "snapshot-count",
    "numFiles",
    "numRows",
    "totalSize",
)
"""The parameters of which anything is read beside the location, the schema and the spec."""

OWNER_CHARS = 128
_LONGEST_UUID = 36
# Later ones have no local time everywhere.
_LAST_YEAR = 9998
_MOST = 2**63 - 1
# Fields of the metastore's Thrift structures.
_NAME, _DB, _OWNER, _STORAGE, _PARAMETERS = "1", "2", "3", "7", "9"
_LOCATION = "2"


@dataclass(frozen=True, slots=True)
class SnapshotEvent:
    """A table's current snapshot, as far as its summary was told; None is not told."""

    snapshot_id: int
    at: datetime | None = None
    is_ours: bool = False
    operation: str = ""
    n_added: int = 0
    n_removed: int = 0
    bytes_added: int = 0
    bytes_removed: int = 0
    n_deletes_added: int = 0
    n_changed_partitions: int | None = None
    n_files: int | None = None
    n_bytes: int | None = None
    n_rows: int | None = None
    n_delete_files: int | None = None


@dataclass(frozen=True, slots=True)
class TableEvent:
    """An Iceberg table as the metastore holds it; an empty uuid is not told."""

    db: str
    table: str
    metadata_location: str
    uuid: str = ""
    owner: str = ""
    location: str = ""
    snapshot: SnapshotEvent | None = None
    n_snapshots: int | None = None
    columns: Mapping[str, str] | None = None
    partition_spec: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What one event means for the tables by these names.

    `after` is the table as it is now, None where there is no Iceberg table by the name any more.
    `former` is the (db, table) that a renamed table had until now, `gone_uuid` tells which table
    was dropped where the message says it.
    """

    db: str
    table: str
    after: TableEvent | None = None
    former: tuple[str, str] | None = None
    gone_uuid: str = ""


def heard(
    event_type: str,
    name: tuple[str, str],
    message: Mapping[str, Any],
    *,
    former: tuple[str, str] | None = None,
) -> Heard | None:
    """Read what an event means; None where no Iceberg table was ever concerned.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: a message of another form.
    """
    db, table = name
    if event_type == "DROP_TABLE":
        dropped = _table(message.get("tableObjJson"))
        return Heard(db, table, gone_uuid=dropped.uuid if dropped else "")
    created = event_type == "CREATE_TABLE"
    after = _table(message.get("tableObjJson" if created else "tableObjAfterJson"))
    if created:
        return Heard(db, table, after) if after else None
    before = _metadata_location(message.get("tableObjBeforeJson"))
    if after is None and not before:
        return None
    is_change = after is None or after.metadata_location != before
    return Heard(db, table, after, former) if is_change or former is not None else None


def iceberg_table(
    name: tuple[str, str], parameters: Mapping[str, str], *, owner: str = "", location: str = ""
) -> TableEvent | None:
    """Read a table's parameters; None where it is no Iceberg table."""
    place = parameters.get("metadata_location", "")
    if not place or parameters.get("table_type", "").lower() != "iceberg":
        return None
    columns, names = _columns(parameters.get("current-schema"))
    return TableEvent(
        name[0],
        name[1],
        place,
        uuid=parameters.get("uuid", "")[:_LONGEST_UUID],
        owner=fitted(owner, OWNER_CHARS),
        location=location,
        snapshot=_snapshot(parameters),
        n_snapshots=_number(parameters.get("snapshot-count")),
        columns=columns,
        partition_spec=_spec(parameters.get("default-partition-spec"), names),
    )


def _metadata_location(text: Any) -> str:
    """Return where the metadata of an Iceberg table is; empty where it is none."""
    _, parameters = _read(text)
    is_iceberg = parameters.get("table_type", "").lower() == "iceberg"
    return str(parameters.get("metadata_location", "")) if is_iceberg else ""


def _read(text: Any) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Return a table's structure and its parameters; nothing where it is surely no Iceberg table.

    An object may have a thousand columns; most tables of a lake are of another format.
    """
    if not text or "metadata_location" not in text:
        return {}, {}
    found = json.loads(text, strict=False)
    return found, map_in(found, _PARAMETERS)


def _table(text: Any) -> TableEvent | None:
    found, parameters = _read(text)
    storage = found.get(_STORAGE, {}).get("rec", {})
    return iceberg_table(
        (text_in(found, _DB), text_in(found, _NAME)),
        parameters,
        owner=text_in(found, _OWNER),
        location=text_in(storage, _LOCATION),
    )


def _snapshot(parameters: Mapping[str, str]) -> SnapshotEvent | None:
    snapshot_id = _number(parameters.get("current-snapshot-id"))
    if snapshot_id is None or snapshot_id < 0:
        return None
    summary = _json_object(parameters.get("current-snapshot-summary"))
    milliseconds = _number(parameters.get("current-snapshot-timestamp-ms"))
    # The plain ones are there even where the summary is too long to be kept.
    totals: dict[str, Any] = {
        "n_files": _first(summary.get("total-data-files"), parameters.get("numFiles")),
        "n_bytes": _first(summary.get("total-files-size"), parameters.get("totalSize")),
        "n_rows": _first(summary.get("total-records"), parameters.get("numRows")),
        "n_delete_files": _number(summary.get("total-delete-files")),
    }
    return SnapshotEvent(
        snapshot_id,
        _instant(milliseconds),
        is_ours=TASK_KEY in summary,
        **totals,
        **commit_of(summary),
    )


def commit_of(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a snapshot's summary says of its commit, by the fields of `HeardSnapshot`.

    The operation itself is not in it: only that nothing was taken away can be told, as an append.
    """
    counts = {
        "n_added": _number(summary.get("added-data-files")) or 0,
        "n_removed": _number(summary.get("deleted-data-files")) or 0,
        "bytes_added": _number(summary.get("added-files-size")) or 0,
        "bytes_removed": _number(summary.get("removed-files-size")) or 0,
        "n_deletes_added": _number(summary.get("added-delete-files")) or 0,
    }
    is_append = counts["n_added"] and not any(
        counts[name] for name in ("n_removed", "bytes_removed", "n_deletes_added")
    )
    return {
        **counts,
        "operation": "append" if is_append else "",
        "n_changed_partitions": _number(summary.get("changed-partition-count")),
    }


def _columns(text: str | None) -> tuple[dict[str, str] | None, dict[int, str]]:
    """Return the type of each top-level column by name, and their names by id."""
    schema = _json_object(text)
    fields = [one for one in _objects(schema.get("fields")) if "name" in one]
    if not fields:
        return None, {}
    types = {str(one["name"]): _type(one.get("type")) for one in fields}
    return types, {one["id"]: str(one["name"]) for one in fields if isinstance(one.get("id"), int)}


def _type(found: Any) -> str:
    return str(found.get("type", "")) if isinstance(found, dict) else str(found)


def _spec(text: str | None, names: Mapping[int, str]) -> str | None:
    """Return a partition spec in words: `dt, day(ts), bucket[16](id)`; '' is unpartitioned."""
    if text is None:
        return None
    parts = []
    for one in _objects(_json_object(text).get("fields")):
        source = names.get(one.get("source-id", 0), str(one.get("name", "")))
        transform = str(one.get("transform", "identity"))
        parts.append(source if transform == "identity" else f"{transform}({source})")
    return ", ".join(parts)


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())


def _json_object(text: str | None) -> dict[str, Any]:
    """Read a JSON object; one that was cut short or never written says nothing."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first(*texts: Any) -> int | None:
    return next((number for text in texts if (number := _number(text)) is not None), None)


def _number(text: Any) -> int | None:
    try:
        number = int(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) <= _MOST else None


def _instant(milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    try:
        found = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return found if 1 < found.year <= _LAST_YEAR else None
