"""Turns the evidence of a finding into tables that people can read.

Evidence is kept as rows of plain JSON, of one finding sometimes of two kinds: each kind is a table
of its own, without columns in which nothing stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.safestring import SafeString

from portal.ui.templatetags.lw import NOTHING, bytes_, count, instant

TITLES = {
    "group": "File group",
    "log_file": "Log file",
    "position": "Offset",
    "kind": "Block",
    "state": "State",
    "instant": "Instant",
    "n_bytes": "Skipped",
    "detail": "What the reader says",
    "key": "Record key",
    "partition": "Partition",
    "file_ids": "File groups",
    "base_instant": "Slice of",
    "base_bytes": "Base file",
    "n_logs": "Logs",
    "log_bytes": "In logs",
    "oldest_log_instant": "Oldest log",
    "newest_log_instant": "Newest log",
    "action": "Action",
    "requested_at": "Requested",
    "inflight_at": "Inflight",
    "completed_at": "Completed",
    "heartbeat_at": "Last heartbeat",
    "operation": "Operation",
    "n_operations": "Files",
    "by": "By",
    "waits": "Waits for",
    "partitions": "Partitions",
    "file_groups": "File groups",
    "n_file_groups": "File groups",
    "logs": "In logs",
}
_HIDDEN = {"is_archived", "has_earlier_base", "completed"}
_NOTHING: tuple[object, ...] = (None, "", [], {})
Cell = str | SafeString


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Rows of one kind under their titles."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def evidence_tables(rows: Sequence[Mapping[str, Any]]) -> list[EvidenceTable]:
    """Put the rows of a finding into tables, in their order."""
    kinds: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(tuple(row), []).append(row)
    return [_table(keys, found) for keys, found in kinds.items()]


def _table(keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> EvidenceTable:
    shown = [
        key for key in keys if key not in _HIDDEN and any(row[key] not in _NOTHING for row in rows)
    ]
    heads = [TITLES.get(key, key.replace("_", " ")) for key in shown]
    return EvidenceTable(heads, [[_cell(key, row[key]) for key in shown] for row in rows])


def _cell(key: str, value: Any) -> Cell:
    if value in _NOTHING:
        return NOTHING
    if isinstance(value, Mapping):
        return "/".join(str(part) for part in value.values() if part != "")
    if isinstance(value, (list, tuple)):
        return ", ".join(str(one) for one in value)
    if key.endswith("_bytes"):
        return bytes_(value)
    if key.endswith("_at"):
        return instant(datetime.fromisoformat(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return count(value)
    return str(value)
