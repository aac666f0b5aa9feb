"""What would OBSERVE have dropped, and what of it was written or read again the day after?

This record is what an admin looks at before trusting a database with more than OBSERVE.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from lifecycle.domain.expiry import ExpiryClass
from lifecycle.domain.modes import DatabaseMode
from lifecycle.models import DatabaseFinding, Generation, ShadowRecord
from lifecycle.models.findings import GenerationState
from lifecycle.services.results import result_tables
from portal.access.lakes import get_lake

KEPT_DAYS = 30
EXAMPLES = 10
COLUMNS = (
    "db",
    "tbl",
    "tbl_id",
    "part_id",
    "part_name",
    "cls",
    "updated_ms",
    "atime_ms",
    "n_bytes",
)
_KEYS = ["db", "tbl_id", "part_id"]


def shadow_record(generation: Generation) -> int:
    """Write one row a database in OBSERVE for the generation's day; repeated, it writes the same.

    It compares with the last picture of an earlier day, however often this day is scanned.
    """
    databases = _observed(generation)
    now = _items(generation, databases)
    before = _items(_previous(generation), databases)
    due = now.filter(pc.field("cls") == ExpiryClass.CLEAN_NOW.value)
    due_before = before.filter(pc.field("cls") == ExpiryClass.CLEAN_NOW.value)
    new = due.join(due_before.select(_KEYS), _KEYS, join_type="left anti")
    again = due_before.select([*_KEYS, "updated_ms", "atime_ms"]).join(
        now, _KEYS, join_type="inner", left_suffix="_before"
    )
    written = again.filter(pc.field("updated_ms") > pc.field("updated_ms_before"))
    # A write moves the access time too, so only what was not written counts as read.
    read = again.filter(
        (pc.field("atime_ms") > pc.field("atime_ms_before"))
        & (pc.field("updated_ms") <= pc.field("updated_ms_before"))
    )
    with transaction.atomic():
        ShadowRecord.objects.filter(lake=generation.lake, day=generation.day).delete()
        ShadowRecord.objects.bulk_create(
            ShadowRecord(
                lake=generation.lake,
                db=db,
                day=generation.day,
                n_due=_count(due, db),
                n_bytes_due=_bytes(due, db),
                n_new=_count(new, db),
                n_written_again=_count(written, db),
                n_read_again=_count(read, db),
                examples=_examples([written, read], db),
            )
            for db in databases
        )
        oldest = generation.day - timedelta(days=KEPT_DAYS)
        ShadowRecord.objects.filter(lake=generation.lake, day__lt=oldest).delete()
    return len(databases)


def _observed(generation: Generation) -> list[str]:
    rows = DatabaseFinding.objects.filter(generation=generation, mode=DatabaseMode.OBSERVE)
    return sorted(rows.values_list("db", flat=True))


def _previous(generation: Generation) -> Generation | None:
    earlier = Generation.objects.filter(lake=generation.lake, day__lt=generation.day)
    return earlier.exclude(state=GenerationState.LOADING).order_by("-day", "-pk").first()


def _items(generation: Generation | None, databases: list[str]) -> pa.Table:
    empty = pa.table({name: pa.array([], type=_type(name)) for name in COLUMNS})
    if generation is None:
        return empty
    parts = [
        table.select(COLUMNS)
        .cast(empty.schema)
        .filter(pc.field("db").isin(pa.array(databases, pa.string())))
        for table in result_tables(
            get_lake(generation.lake), generation.results_uri, "items", columns=COLUMNS
        )
    ]
    return pa.concat_tables([empty, *parts])


def _type(name: str) -> pa.DataType:
    return pa.string() if name in {"db", "tbl", "part_name", "cls"} else pa.int64()


def _of(table: pa.Table, db: str) -> pa.Table:
    return table.filter(pc.field("db") == db)


def _count(table: pa.Table, db: str) -> int:
    return int(_of(table, db).num_rows)


def _bytes(table: pa.Table, db: str) -> int:
    return int(pc.sum(_of(table, db).column("n_bytes")).as_py() or 0)


def _examples(tables: Iterable[pa.Table], db: str) -> list[str]:
    names: list[str] = []
    for table in tables:
        rows: list[dict[str, Any]] = _of(table, db).slice(0, EXAMPLES).to_pylist()
        names += [f"{row['db']}.{row['tbl']} {row['part_name'] or ''}".strip() for row in rows]
    return names[:EXAMPLES]
