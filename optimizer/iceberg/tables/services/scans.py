"""Sums up engines' reports of scans by day, for weeks: by filter, and by all filters together."""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import F, Q, QuerySet

from optimizer.advice.domain.filters import Filter
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.core.services.transactions import transaction_run
from optimizer.iceberg.tables.services.lake_sums import scans_add, scans_ready, sums_of
from optimizer.models import IcebergTable, ScanFilter, ScanShape

KEPT_DAYS = 35
MOST_FILTERS = 64
"""Of one scan; what it filters beyond is left out of the sums."""
MOST_A_DAY = 500
"""Sums of a table and day; made-up names may not fill the database."""
MOST_SHAPES = 200
"""Of a table and day; what comes beyond is in the sums by filter alone."""
_MOST = 2**62


def scan_report(row: IcebergTable, scanned: Scanned, *, now: datetime) -> int:
    """Add a scan to today's sums of its table and its lake; returns of how many filters.

    Filters of columns that the table does not have are left out, where its columns are known
    already. Called twice it is counted twice.
    """
    scans_ready(row.lake, now=now)
    return transaction_run(partial(_report, row, scanned, now=now))


def _report(row: IcebergTable, scanned: Scanned, *, now: datetime) -> int:
    n_filters = table_scan_add(row, scanned, now=now)
    scans_add(row.lake, sums_of(row, scanned), now=now)
    return n_filters


def table_scan_add(row: IcebergTable, scanned: Scanned, *, now: datetime) -> int:
    """Add a scan to its table's sums alone; who calls it adds to the lake's in the end."""
    known = {name.lower() for name in row.columns}
    found = [one for one in scanned.filters if not known or _is_of(one, known)][:MOST_FILTERS]
    today = now.astimezone(UTC).date()
    keys = [("", ""), *((one.column, one.kind.value) for one in found)]
    sums = row.scan_filters.filter(day=today)
    there = set(sums.values_list("column", "kind"))
    new = [key for key in keys if key not in there][: max(0, MOST_A_DAY - len(there))]
    asked = Q(*(Q(column=column, kind=kind) for column, kind in keys), _connector=Q.OR)
    with transaction.atomic():
        ScanFilter.objects.bulk_create(
            [
                ScanFilter(table=row, day=today, column=column, kind=kind, last_at=now)
                for column, kind in new
            ],
            ignore_conflicts=True,
        )
        # An engine that lies may not make a sum that the database cannot hold.
        sums.filter(asked, n_bytes__lt=_MOST, n_files__lt=_MOST, n_skipped__lt=_MOST).update(
            n_scans=F("n_scans") + 1,
            n_files=F("n_files") + min(scanned.n_files, _MOST),
            n_skipped=F("n_skipped") + min(scanned.n_skipped, _MOST),
            n_bytes=F("n_bytes") + min(scanned.n_bytes, _MOST),
            last_at=now,
        )
        _shape_add(row, found, scanned, today=today)
        if new:
            gone = today - timedelta(days=KEPT_DAYS)
            row.scan_filters.filter(day__lt=gone).delete()
            row.scan_shapes.filter(day__lt=gone).delete()
    return len(found)


def _shape_add(
    row: IcebergTable, filters: Iterable[Filter], scanned: Scanned, *, today: date
) -> None:
    named = sorted([one.column, one.kind.value] for one in filters)
    digest = hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]
    shapes = row.scan_shapes.filter(day=today)
    if _counted(shapes.filter(digest=digest), scanned) or shapes.count() >= MOST_SHAPES:
        return
    made = ScanShape(table=row, day=today, digest=digest, filters=named)
    ScanShape.objects.bulk_create([made], ignore_conflicts=True)
    _counted(shapes.filter(digest=digest), scanned)


def _counted(shape: QuerySet[ScanShape], scanned: Scanned) -> int:
    """Add a scan to the sum of its shape; returns 0 where there is none yet, or it is full."""
    return shape.filter(n_bytes__lt=_MOST, n_files__lt=_MOST).update(
        n_scans=F("n_scans") + 1,
        n_files=F("n_files") + min(scanned.n_files, _MOST),
        n_bytes=F("n_bytes") + min(scanned.n_bytes, _MOST),
    )


def _is_of(one: Filter, known: set[str]) -> bool:
    """Whether the table has the column; of a nested one its outermost is known."""
    return one.column.partition(".")[0] in known or one.column in known
