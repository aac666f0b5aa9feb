"""Reads schema, counts and partition values of a table's backup from its manifests.

One `Contents` a batch; they add up, so that executors may read the manifests of a big backup. Rows
of the data are never read: the portal's user may see more than the person who asks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    RestoreStep,
    items_in_backup,
    restored_items,
)
from lifecycle.backup.engine.journal.records import ItemIntent
from portal.connectors.metastore import from_json

# Of each partition key so many different values are counted, the first by name; beyond that the
# page says "at least". Which those are does not depend on the order in which batches are added.
VALUES_KEPT = 10_000
VALUES_SHOWN = 200


@dataclass
class Contents:
    """What some batches of one table hold; `values` counts items by value, key by key."""

    schema: dict[str, Any] = field(default_factory=dict)
    n_batches: int = 0
    n_items: int = 0
    n_restored: int = 0
    n_files: int = 0
    n_bytes: int = 0
    oldest_ms: int | None = None
    newest_ms: int | None = None
    n_other_columns: int = 0
    values: list[dict[str, int]] = field(default_factory=list)

    def add(self, other: "Contents") -> "Contents":
        """Add what other batches hold, and give the sum."""
        for name in ("batches", "items", "restored", "files", "bytes", "other_columns"):
            setattr(self, f"n_{name}", getattr(self, f"n_{name}") + getattr(other, f"n_{name}"))
        self.oldest_ms = _pick(min, self.oldest_ms, other.oldest_ms)
        self.newest_ms = _pick(max, self.newest_ms, other.newest_ms)
        self.schema = self.schema or other.schema
        while len(self.values) < len(other.values):
            self.values.append({})
        for n, counted in enumerate(other.values):
            for value, count in counted.items():
                _count(self.values[n], value, count)
            self.values[n] = _first(self.values[n])
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, with the first of the partition values."""
        keys = self.schema.get("partition_keys", [])
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "schema": self.schema,
            "partition_values": [
                {
                    "name": keys[n]["name"] if n < len(keys) else "",
                    "n_values": len(counted),
                    "is_cut": len(counted) >= VALUES_KEPT,
                    "values": [
                        {"value": value, "n_items": counted[value]}
                        for value in sorted(counted)[:VALUES_SHOWN]
                    ],
                }
                for n, counted in enumerate(self.values)
            ],
        }


_COUNTS = (
    *("n_batches", "n_items", "n_restored", "n_files", "n_bytes", "oldest_ms", "newest_ms"),
    "n_other_columns",
)


def contents_of(batch: JournalBatch, steps: list[RestoreStep]) -> Contents:
    """Read what one settled batch holds; an unsettled one holds nothing that is sure."""
    if batch.done is None:
        return Contents()
    items = items_in_backup(batch)
    table = from_json(ttypes.Table, batch.intent.table_metadata)
    columns = _columns(table.sd.cols)
    found = Contents(
        schema=_schema(table),
        n_batches=1,
        n_items=len(items),
        n_restored=len(restored_items(steps)),
        n_files=sum(item.n_files for item in items),
        n_bytes=sum(item.n_bytes for item in items),
        values=[{} for _ in table.partitionKeys or ()],
    )
    times = [fact.mtime_ms for item in items for fact in item.files if not fact.is_dir]
    found.oldest_ms, found.newest_ms = min(times, default=None), max(times, default=None)
    for item in items:
        if item.partition:
            _add_partition(found, item, columns)
    return found


def _add_partition(found: Contents, item: ItemIntent, columns: list[dict[str, str]]) -> None:
    partition = from_json(ttypes.Partition, item.metadata)
    for counted, value in zip(found.values, partition.values, strict=True):
        _count(counted, value, 1)
    if _columns(partition.sd.cols) != columns:
        found.n_other_columns += 1


def _schema(table: Any) -> dict[str, Any]:
    serde = table.sd.serdeInfo
    return {
        "columns": _columns(table.sd.cols),
        "partition_keys": _columns(table.partitionKeys or ()),
        "owner": table.owner or "",
        "table_type": table.tableType or "",
        "location": table.sd.location or "",
        "input_format": table.sd.inputFormat or "",
        "serde": serde.serializationLib if serde else "",
        "parameters": dict(sorted((table.parameters or {}).items())),
    }


def _columns(fields: Iterable[Any]) -> list[dict[str, str]]:
    return [
        {"name": one.name, "type": one.type or "", "comment": one.comment or ""} for one in fields
    ]


def _count(counted: dict[str, int], value: str, n: int) -> None:
    counted[value] = counted.get(value, 0) + n


def _first(counted: dict[str, int]) -> dict[str, int]:
    """Keep the first by name; their counts are whole, for no part of the sum ever left one out."""
    if len(counted) <= VALUES_KEPT:
        return counted
    return {value: counted[value] for value in sorted(counted)[:VALUES_KEPT]}


def _pick(choose: Any, one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None
