"""Results as a scan writes them, made by pyarrow: for tests of what the portal does with them."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lifecycle.expiry.domain.rule import RULES, ExpiryClass

DAY = timedelta(days=1)
DUE = {ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ}
TEXT: pa.DataType = pa.string()
TEXTS: pa.DataType = pa.list_(pa.string())
LONG: pa.DataType = pa.int64()

ITEM_SCHEMA = pa.schema(
    {
        "db": TEXT, "tbl": TEXT, "tbl_id": LONG, "tbl_type": TEXT, "part_id": LONG,
        "part_name": TEXT, "location": TEXT, "level": pa.int32(), "ttl": pa.int32(),
        "policy_source": TEXT, "ddl_time": LONG, "create_time": LONG, "mtime_ms": LONG,
        "atime_ms": LONG, "updated_ms": LONG, "winner": TEXT, "due_ms": LONG,
        "due_on": pa.date32(), "cls": TEXT, "rule": TEXT, "detail": TEXT,
        "n_files": LONG, "n_bytes": LONG, "ready": pa.bool_(),
    }
)  # fmt: skip
TABLE_SCHEMA = pa.schema(
    {
        "db": TEXT, "tbl": TEXT, "tbl_id": LONG, "owner": TEXT, "tbl_type": TEXT, "format": TEXT,
        "uuid": TEXT, "create_time": LONG, "location": TEXT, "level": pa.int32(),
        "ttl": pa.int32(), "policy_source": TEXT, "enrolled": pa.bool_(),
        "reasons": TEXTS, "unsupported_reason": TEXT,
        "n_partitions": LONG, "oldest_updated_ms": LONG, "newest_updated_ms": LONG,
        "next_due_on": pa.date32(), "n_files": LONG, "n_bytes": LONG,
        **{f"n_{cls.lower()}": LONG for cls in ExpiryClass},
        **{f"bytes_{cls.lower()}": LONG for cls in ExpiryClass},
    }
)  # fmt: skip
DATABASE_SCHEMA = pa.schema(
    {
        "db": TEXT, "owner": TEXT, "location": TEXT, "reasons": TEXTS, "n_tables": LONG,
        "n_partitions": LONG,
    }
)  # fmt: skip
FINDING_SCHEMA = pa.schema(
    {
        "kind": TEXT, "db": TEXT, "tbl": TEXT, "part_name": TEXT, "location": TEXT,
        "reasons": TEXTS, "related": TEXTS, "hint": TEXT, "waived": TEXTS,
        "excepted_until": pa.date32(),
    }
)  # fmt: skip
RANGE_SCHEMA = pa.schema(
    {
        "db": TEXT, "tbl": TEXT, "cls": TEXT, "first_part": TEXT, "last_part": TEXT, "n": LONG,
        "n_bytes": LONG, "due_first": pa.date32(), "due_last": pa.date32(),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One partition, or an unpartitioned table when `part` is empty; sizes in bytes."""

    cls: ExpiryClass
    part: str = ""
    updated: datetime = datetime(2026, 9, 1, tzinfo=UTC)
    read: datetime | None = None
    size: int = 1_000


@dataclass(frozen=True)
class Table:
    """One table with its items."""

    db: str
    name: str
    tbl_id: int
    owner: str
    items: tuple[Item, ...] = ()
    ttl: int | None = 60
    reasons: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        """Where it lies."""
        return f"file:///lake/{self.db}/{self.name}"


@dataclass(frozen=True)
class Finding:
    """One nonconforming path."""

    kind: str
    db: str
    table: str = ""
    part: str = ""
    reasons: tuple[str, ...] = ("OWNER_PATH_FAIL",)
    related: tuple[str, ...] = ()
    hint: str = ""
    waived: tuple[str, ...] = ()
    excepted_until: date | None = None


@dataclass(frozen=True)
class Picture:
    """What a scan saw; `owners` are the databases' owners."""

    owners: dict[str, str]
    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    read_at: datetime = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    extra: dict[str, Any] = field(default_factory=dict)

    def write(self, results: Path) -> dict[str, Any]:
        """Write the Parquet below `results`; give what the job's manifest says as its result."""
        items = [(table, item) for table in self.tables for item in table.items]
        _write(results / "items", [_item_row(table, item) for table, item in items], ITEM_SCHEMA)
        _write(results / "examples", [_item_row(t, item) for t, item in items], ITEM_SCHEMA)
        _write(results / "tables", [_table_row(table) for table in self.tables], TABLE_SCHEMA)
        _write(results / "databases", list(self._databases()), DATABASE_SCHEMA)
        _write(results / "findings", [_finding_row(one) for one in self.findings], FINDING_SCHEMA)
        ranges = [row for table in self.tables for row in _range_rows(table)]
        _write(results / "ranges", ranges, RANGE_SCHEMA)
        return self._result()

    def _databases(self) -> Iterable[dict[str, Any]]:
        for db, owner in self.owners.items():
            tables = [table for table in self.tables if table.db == db]
            yield {
                "db": db,
                "owner": owner,
                "location": f"file:///lake/{db}",
                "reasons": [],
                "n_tables": len(tables),
                "n_partitions": sum(len(table.items) for table in tables),
            }

    def _result(self) -> dict[str, Any]:
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for table in self.tables:
            for item in table.items:
                counts[item.cls] += 1
                sizes[item.cls] += item.size
        reasons = Counter(reason for one in self.findings for reason in one.reasons)
        return {
            "read_at": self.read_at.isoformat(),
            "notification_id": 7,
            "n_databases": len(self.owners),
            "n_tables": len(self.tables),
            "n_views": 0,
            "n_partitions": sum(len(table.items) for table in self.tables),
            "classes": {c: {"n": counts[c], "bytes": sizes[c], "files": counts[c]} for c in counts},
            "reasons": dict(reasons),
            "phases": {"read": 1.0},
            "missing_directories": 0,
            **self.extra,
        }


def _item_row(table: Table, item: Item) -> dict[str, Any]:
    updated_ms = int(item.updated.timestamp() * 1000)
    due = item.updated + DAY * (table.ttl or 0)
    return {
        "db": table.db,
        "tbl": table.name,
        "tbl_id": table.tbl_id,
        "tbl_type": "MANAGED_TABLE",
        "part_id": table.items.index(item) + 1 if item.part else 0,
        "part_name": item.part,
        "location": f"{table.location}/{item.part}".rstrip("/"),
        "level": 1 if table.ttl else None,
        "ttl": table.ttl,
        "policy_source": "the table's own parameters",
        "ddl_time": updated_ms // 1000,
        "create_time": updated_ms // 1000,
        "mtime_ms": updated_ms - 5,
        "atime_ms": int(item.read.timestamp() * 1000) if item.read else updated_ms,
        "updated_ms": updated_ms,
        "winner": "DDL",
        "due_ms": int(due.timestamp() * 1000) if table.ttl else None,
        "due_on": due.date() if table.ttl else None,
        "cls": item.cls.value,
        "rule": next(rule.value for rule, cls, _ in RULES if cls is item.cls),
        "detail": f"because it is {item.cls.value}",
        "n_files": 1,
        "n_bytes": item.size,
        "ready": True,
    }


def _table_row(table: Table) -> dict[str, Any]:
    rows = [_item_row(table, item) for item in table.items]
    of_class: dict[str, list[Item]] = defaultdict(list)
    for item in table.items:
        of_class[item.cls].append(item)
    falls_due = DUE | {ExpiryClass.NOT_NOW}
    due = [row["due_on"] for row in rows if row["cls"] in falls_due and row["due_on"]]
    updates = [row["updated_ms"] for row in rows]
    return {
        "db": table.db,
        "tbl": table.name,
        "tbl_id": table.tbl_id,
        "owner": table.owner,
        "tbl_type": "MANAGED_TABLE",
        "format": "parquet",
        "location": table.location,
        "level": 1 if table.ttl else None,
        "ttl": table.ttl,
        "policy_source": "the table's own parameters",
        "enrolled": table.ttl is not None,
        "reasons": list(table.reasons),
        "unsupported_reason": "",
        "n_partitions": sum(1 for item in table.items if item.part),
        "oldest_updated_ms": min(updates, default=None),
        "newest_updated_ms": max(updates, default=None),
        "next_due_on": min(due, default=None),
        "n_files": len(rows),
        "n_bytes": sum(item.size for item in table.items),
        **{f"n_{cls.lower()}": len(of_class[cls]) for cls in ExpiryClass},
        **{
            f"bytes_{cls.lower()}": sum(i.size for i in of_class[cls]) if of_class[cls] else None
            for cls in ExpiryClass
        },
    }


def _range_rows(table: Table) -> Iterable[dict[str, Any]]:
    rows = sorted((_item_row(table, item) for item in table.items), key=lambda r: r["part_name"])
    for cls, grouped in groupby(rows, key=lambda row: row["cls"]):
        run = list(grouped)
        due = [row["due_on"] for row in run if row["due_on"]]
        yield {
            "db": table.db,
            "tbl": table.name,
            "cls": cls,
            "first_part": run[0]["part_name"],
            "last_part": run[-1]["part_name"],
            "n": len(run),
            "n_bytes": sum(row["n_bytes"] for row in run),
            "due_first": min(due, default=None),
            "due_last": max(due, default=None),
        }


def _finding_row(one: Finding) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "db": one.db,
        "tbl": one.table,
        "part_name": one.part,
        "location": f"file:///lake/{one.db}/{one.table}/{one.part}",
        "reasons": list(one.reasons),
        "related": list(one.related),
        "hint": one.hint,
        "waived": list(one.waived),
        "excepted_until": one.excepted_until,
    }


def _write(folder: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "part-0.parquet")
