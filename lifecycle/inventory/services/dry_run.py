"""Records what OBSERVE would have dropped, and which of it was written or read the day after.

This record is what an admin looks at before trusting a database with more than OBSERVE. An item is
known by its name, not by its id: one that was dropped and created again was written again.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import GenerationState
from lifecycle.models import DatabaseFinding, DryRunRecord, DryRunTable, ScanSnapshot
from portal.access.lakes import get_lake
from portal.runs.results.parquet import CHUNK, result_tables

KEPT_DAYS = 30
EXAMPLES = 10
COLUMNS = ("db", "tbl", "part_name", "cls", "updated_ms", "atime_ms", "n_bytes")
_KEYS = ["db", "tbl", "part_name"]
_TEXTS = frozenset({*_KEYS, "cls"})
_COUNTS = (
    *("n_due", "n_bytes_due", "n_new", "n_bytes_new"),
    *("n_written_again", "n_read_again", "n_bytes_again"),
)


@dataclass
class _Counts:
    """What one table, or one database, adds up to."""

    n_due: int = 0
    n_bytes_due: int = 0
    n_new: int = 0
    n_bytes_new: int = 0
    n_written_again: int = 0
    n_read_again: int = 0
    n_bytes_again: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def tells(self) -> bool:
        """Whether anything happened that day."""
        return bool(self.n_new or self.n_written_again or self.n_read_again)

    def add(self, other: "_Counts") -> None:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.examples = [*self.examples, *other.examples][:EXAMPLES]

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*_COUNTS, "examples")}


def dry_run_record(generation: ScanSnapshot) -> int:
    """Write the generation's day for every database in OBSERVE; repeated, it writes the same.

    It compares with the last picture of an earlier day, however often this day is scanned. Only
    what was or is due is kept in memory, never the lake.
    """
    databases = _observed(generation)
    tables = _count(generation, databases)
    sums: dict[str, _Counts] = {db: _Counts() for db in databases}
    for (db, _), counts in sorted(tables.items()):
        sums[db].add(counts)
    base = {"lake": generation.lake, "day": generation.day}
    told = [
        DryRunTable(**base, db=db, table=table, **counts.values())
        for (db, table), counts in sorted(tables.items())
        if counts.tells
    ]
    with transaction.atomic():
        DryRunRecord.objects.filter(**base).delete()
        DryRunTable.objects.filter(**base).delete()
        DryRunRecord.objects.bulk_create(
            DryRunRecord(**base, db=db, **counts.values()) for db, counts in sums.items()
        )
    for start in range(0, len(told), CHUNK):
        DryRunTable.objects.bulk_create(told[start : start + CHUNK])
    oldest = generation.day - timedelta(days=KEPT_DAYS)
    for model in (DryRunRecord, DryRunTable):
        model._default_manager.filter(lake=generation.lake, day__lt=oldest).delete()
    return len(databases)


def _observed(generation: ScanSnapshot) -> list[str]:
    rows = DatabaseFinding.objects.filter(generation=generation, mode=DatabaseMode.OBSERVE)
    return sorted(rows.values_list("db", flat=True))


def _previous(generation: ScanSnapshot) -> ScanSnapshot | None:
    earlier = ScanSnapshot.objects.filter(lake=generation.lake, day__lt=generation.day)
    return earlier.exclude(state=GenerationState.LOADING).order_by("-day", "-pk").first()


def _count(generation: ScanSnapshot, databases: list[str]) -> dict[tuple[str, str], _Counts]:
    before = pa.concat_tables([_EMPTY, *map(_due, _items(_previous(generation), databases))])
    due = [_EMPTY]
    tables: dict[tuple[str, str], _Counts] = defaultdict(_Counts)
    for items in _items(generation, databases):
        due.append(_due(items))
        _count_used(tables, before, items)
    now = pa.concat_tables(due)
    for key, n, size in _by_table(now):
        tables[key].n_due, tables[key].n_bytes_due = n, size
    new = now.join(before.select(_KEYS), _KEYS, join_type="left anti")
    for key, n, size in _by_table(new):
        tables[key].n_new, tables[key].n_bytes_new = n, size
    return tables


def _count_used(tables: dict[tuple[str, str], _Counts], before: pa.Table, items: pa.Table) -> None:
    """Count what was due before and is in one file of items now, newer or read since."""
    again = before.join(
        items.select([*_KEYS, "updated_ms", "atime_ms"]),
        _KEYS,
        join_type="inner",
        right_suffix="_now",
    )
    is_written = pc.field("updated_ms_now") > pc.field("updated_ms")
    # A write moves the access time too, so only what was not written counts as read.
    is_read = (pc.field("atime_ms_now") > pc.field("atime_ms")) & (
        pc.field("updated_ms_now") <= pc.field("updated_ms")
    )
    for rows, name in (
        (again.filter(is_written), "n_written_again"),
        (again.filter(is_read), "n_read_again"),
    ):
        for key, n, size in _by_table(rows):
            counts = tables[key]
            setattr(counts, name, getattr(counts, name) + n)
            counts.n_bytes_again += size
        for row in rows.slice(0, EXAMPLES).to_pylist():
            counts = tables[row["db"], row["tbl"]]
            if len(counts.examples) < EXAMPLES:
                counts.examples.append(f"{row['db']}.{row['tbl']} {row['part_name']}".strip())


def _by_table(rows: pa.Table) -> Iterator[tuple[tuple[str, str], int, int]]:
    """Yield (db, table), how many rows, and their bytes."""
    summed = rows.group_by(["db", "tbl"]).aggregate([("part_name", "count"), ("n_bytes", "sum")])
    for row in summed.to_pylist():
        yield (row["db"], row["tbl"]), row["part_name_count"], row["n_bytes_sum"] or 0


def _items(generation: ScanSnapshot | None, databases: list[str]) -> Iterator[pa.Table]:
    """Yield the items of some databases, a file at a time."""
    if generation is None or not databases:
        return
    wanted = pa.array(databases, pa.string())
    config = get_lake(generation.lake)
    for table in result_tables(config, generation.results_uri, "items", columns=COLUMNS):
        rows = table.select(COLUMNS).cast(_EMPTY.schema).filter(pc.field("db").isin(wanted))
        names: Any = pc.coalesce(rows["part_name"], pa.scalar(""))
        yield rows.set_column(rows.schema.get_field_index("part_name"), "part_name", names)


def _due(items: pa.Table) -> pa.Table:
    return items.filter(pc.field("cls") == ExpiryClass.CLEAN_NOW.value)


_EMPTY = pa.table(
    {name: pa.array([], pa.string() if name in _TEXTS else pa.int64()) for name in COLUMNS}
)
