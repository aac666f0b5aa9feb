"""Sums up what readers report of indexes: by table, column, kind and day, for some weeks."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F

from optimizer.iceberg.indexing.selectors import coverage_rows, policy_of, wanted_of
from optimizer.models import IcebergTable, IndexUse

KEPT_DAYS = 35
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class ReportedUse:
    """What one index did since the reader's last report."""

    column: str
    kind: str
    n_plans: int
    n_files: int
    n_bytes: int


def index_uses_add(
    row: IcebergTable, uses: Iterable[ReportedUse], *, now: datetime
) -> list[ReportedUse]:
    """Add what indexes of a table dropped to today's sums; returns those that are known there.

    Called twice it is counted twice.
    """
    known = set(coverage_rows(row).values_list("column", flat=True).distinct())
    known |= {one.column for one in wanted_of(row, policy_of(row).policy)}
    # In one order everywhere, so that two reports of a table wait for each other.
    found = sorted(
        (one for one in uses if one.column in known), key=lambda one: (one.column, one.kind)
    )
    if not found:
        return []
    today = now.astimezone(UTC).date()
    with transaction.atomic():
        for one in found:
            use, _ = IndexUse.objects.get_or_create(
                table=row,
                day=today,
                column=one.column,
                kind=one.kind,
                defaults={"last_used_at": now},
            )
            # A reader that lies may not make a sum that the database cannot hold.
            IndexUse.objects.filter(pk=use.pk, n_bytes__lt=_MOST).update(
                n_plans=F("n_plans") + one.n_plans,
                n_files=F("n_files") + one.n_files,
                n_bytes=F("n_bytes") + one.n_bytes,
                last_used_at=now,
            )
        row.index_uses.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
    return found
