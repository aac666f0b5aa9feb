"""Counts what is due on each of the next days, by owner and database, once when a scan is loaded.

It reads only what the scan publishes of its items, one file at a time; sums by table and day stay.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DueDay, ScanSnapshot, TableFinding
from portal.access.lakes import get_lake
from portal.runs.results.parquet import CHUNK, result_tables

DAYS_AHEAD = 92
COUNTED = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.NOT_NOW)
_COLUMNS = ("tbl_id", "cls", "due_on", "n_bytes")
_Owner = tuple[str, str, str]
_WHOLE: _Owner = ("", "", "")


def due_days_load(generation: ScanSnapshot) -> int:
    """Write the sums of a picture; written again they are the same. Returns how many rows."""
    findings = TableFinding.objects.filter(generation=generation)
    names = findings.values_list("tbl_id", "db", "owner", "db_owner").iterator(chunk_size=CHUNK)
    of_table = {tbl_id: (db, owner, db_owner) for tbl_id, db, owner, db_owner in names}
    sums: defaultdict[tuple[_Owner, date], list[int]] = defaultdict(lambda: [0, 0])
    for tbl_id, day, n_items, n_bytes in _sums(generation):
        if tbl_id not in of_table:
            continue
        for owner in (of_table[tbl_id], _WHOLE):
            counted = sums[owner, day]
            counted[0] += n_items
            counted[1] += n_bytes
    rows = [
        DueDay(
            generation=generation,
            lake=generation.lake,
            db=db,
            owner=owner,
            db_owner=db_owner,
            day=day,
            n_items=n_items,
            n_bytes=n_bytes,
        )
        for ((db, owner, db_owner), day), (n_items, n_bytes) in sums.items()
    ]
    DueDay.objects.filter(generation=generation).delete()
    for start in range(0, len(rows), CHUNK):
        with transaction.atomic():
            DueDay.objects.bulk_create(rows[start : start + CHUNK])
    return len(rows)


def _sums(generation: ScanSnapshot) -> Iterator[tuple[int, date, int, int]]:
    """Yield table, day, items and bytes; a table and day may come again from another file."""
    today = generation.day
    last = pa.scalar(today + timedelta(days=DAYS_AHEAD), pa.date32())
    config = get_lake(generation.lake)
    for items in result_tables(config, generation.results_uri, "items", columns=_COLUMNS):
        wanted = pc.field("cls").isin([cls.value for cls in COUNTED]) & (pc.field("due_on") <= last)
        due = items.filter(wanted)
        days = pc.max_element_wise(due["due_on"], pa.scalar(today, pa.date32()))
        by_day = due.select(["tbl_id", "n_bytes"]).append_column("day", days)
        grouped = by_day.group_by(["tbl_id", "day"]).aggregate(
            [([], "count_all"), ("n_bytes", "sum")]
        )
        for row in grouped.to_pylist():
            yield row["tbl_id"], row["day"], row["count_all"], row["n_bytes_sum"] or 0
