"""Reads rows of the table that Trino's MySQL event listener writes, as the events that they are.

The table has one row a query, written when it ends, and no time: its key is the query's id, which
begins with the second, in UTC, in which the query began. Columns are those of Trino 476.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.domain.trino_events import read_event

_SECOND = "%Y%m%d_%H%M%S"
_N_SIGNS = 15
_MOST_MILLIS = 10**12


def id_at(instant: datetime) -> str:
    """Return what ids of queries that begin in a second begin with; it is less than all of them."""
    return instant.astimezone(UTC).strftime(_SECOND)


def began_at(query_id: str) -> datetime | None:
    """Return when a query began, to the second; None where its id is not one of Trino's."""
    try:
        return datetime.strptime(f"{query_id[:_N_SIGNS]}+0000", f"{_SECOND}%z")
    except ValueError:
        return None


def event_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event that Trino's HTTP listener sends of the same query, as far as it is read."""
    millis = row.get("wall_time_millis")
    took = timedelta(milliseconds=millis) if _is_time(millis) else None
    began = began_at(str(row.get("query_id")))
    ended = began + took if began is not None and took is not None else None
    return {
        "metadata": {
            "queryId": row.get("query_id"),
            "queryState": row.get("query_state"),
            "query": row.get("query"),
            "payload": row.get("stage_info_json"),
        },
        "context": {
            "queryType": row.get("query_type"),
            "user": row.get("user"),
            "source": row.get("source"),
            "catalog": row.get("catalog"),
            "schema": row.get("schema"),
        },
        "ioMetadata": {"inputs": _inputs(row)},
        "statistics": {
            "wallTime": None if took is None else took.total_seconds(),
            "physicalInputBytes": row.get("physical_input_bytes"),
        },
        "endTime": ended.isoformat() if ended else None,
    }


def read_row(row: Mapping[str, Any], *, catalog: str) -> QueryRecord:
    """Read one row; what cannot be read of it is said in `unread`.

    Raises:
        RuleViolation: `queries.event`, its id is none that Trino gives.
    """
    event = event_of(row)
    found = read_event(event, catalog=catalog)
    if event["ioMetadata"]["inputs"] is None and not (found.is_failed or found.unread):
        return replace(found, unread="The row's `inputs_json` is no list in JSON, or too long.")
    return found


def _is_time(millis: object) -> TypeGuard[int]:
    return isinstance(millis, int) and 0 <= millis < _MOST_MILLIS


def _inputs(row: Mapping[str, Any]) -> list[Any] | None:
    text = row.get("inputs_json")
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
