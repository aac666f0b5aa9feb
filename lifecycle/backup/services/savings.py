"""Savings of drops by owner, database and month. Computed from the daily totals.

Told as it is: what came back is no saving, and what lies in a backup is none yet.
"""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Coalesce

from lifecycle.backup.models import BackupTotals, Savings

_SUMS = ("n_dropped", "n_restored", "dropped_bytes", "restored_bytes", "purged_bytes")


def savings_refresh(lake: str, months: Iterable[date]) -> None:
    """Add these months (their first days) up again, and then all months; again changes nothing."""
    with transaction.atomic():
        Savings.objects.get_or_create(lake=lake, month=Savings.EVER, db="")
        whole = Savings.objects.select_for_update().get(lake=lake, month=Savings.EVER, db="")
        for month in sorted(set(months)):
            Savings.objects.filter(lake=lake, month=month).delete()
            _keep(lake, month, _of_month(lake, month))
        of_months = Savings.objects.filter(lake=lake, month__gt=Savings.EVER).exclude(db="")
        Savings.objects.filter(lake=lake, month=Savings.EVER).exclude(pk=whole.pk).delete()
        _keep(lake, Savings.EVER, _added(of_months, {name: name for name in _SUMS}), whole=whole)


def _of_month(lake: str, month: date) -> list[Any]:
    until = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    days = BackupTotals.objects.filter(lake=lake, day__gte=month, day__lt=until).exclude(db="")
    names = ("n_items", "n_restored", "n_bytes", "restored_bytes", "purged_bytes")
    return _added(days, dict(zip(_SUMS, names, strict=True)))


def _added(rows: QuerySet[Any], names: dict[str, str]) -> list[Any]:
    """Return sums by owner and database; the aliases keep clear of the models' own fields."""
    sums: dict[str, Any] = {f"of_{name}": Coalesce(Sum(of), 0) for name, of in names.items()}
    return list(rows.order_by().values(owner=F("table_owner"), name=F("db")).annotate(**sums))


def _keep(lake: str, month: date, sums: list[Any], whole: Savings | None = None) -> None:
    rows = [
        _with_sums(
            Savings(lake=lake, month=month, db=row["name"], table_owner=row["owner"]),
            {name: row[f"of_{name}"] for name in _SUMS},
        )
        for row in sums
    ]
    Savings.objects.bulk_create(rows, batch_size=500)
    total = {name: sum(getattr(row, name) for row in rows) for name in _SUMS}
    _with_sums(whole or Savings(lake=lake, month=month), total).save()


def _with_sums(row: Savings, sums: dict[str, int]) -> Savings:
    for name, value in sums.items():
        setattr(row, name, value)
    row.waiting_bytes = row.dropped_bytes - row.restored_bytes - row.purged_bytes
    return row
