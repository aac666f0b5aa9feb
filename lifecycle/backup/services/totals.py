"""Updates the daily totals and monthly savings of backups as the status of their batches changes.

A day is added up again, under a lock on its row, from the batches as they are committed then: any
number of runs may ask for the same day at once, and asking again changes nothing. Savings are
computed from the daily totals: what came back is no saving, and what lies in a backup is none yet.
"""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch, BackupTotals, Savings
from lifecycle.backup.selectors import RESTORABLE

_SAVED = ("n_dropped", "n_restored", "dropped_bytes", "restored_bytes", "purged_bytes")
_CAN_COME_BACK = Q(state__in=RESTORABLE)
_SUMS = {
    "of_batches": Count("id"),
    "of_items": Sum("n_items"),
    "of_restored": Sum("n_restored"),
    "of_bytes": Sum("n_bytes"),
    "bytes_restored": Sum("restored_bytes"),
    "bytes_purged": Sum(F("n_bytes") - F("restored_bytes"), filter=Q(state=BackupState.PURGED)),
    "of_files": Sum("n_files"),
    "of_restorable": Count("id", filter=_CAN_COME_BACK),
    "items_back": Sum("n_items", filter=_CAN_COME_BACK),
    "bytes_back": Sum("n_bytes", filter=_CAN_COME_BACK),
    "of_left": Count("id", filter=_CAN_COME_BACK & ~Q(purge_skipped_reason="")),
    "of_purging": Count("id", filter=Q(state=BackupState.PURGING)),
    "of_purged": Count("id", filter=Q(state=BackupState.PURGED)),
    "first_purge": Min("purge_after", filter=_CAN_COME_BACK),
}
_ADDED = (
    *("n_tables", "n_batches", "n_items", "n_restored", "n_bytes", "n_files", "n_restorable"),
    *("restorable_items", "restorable_bytes", "n_left", "n_purging", "n_purged"),
    *("restored_bytes", "purged_bytes"),
)


def backup_totals_refresh(lake: str, days: Iterable[date]) -> None:
    """Add the backups of these days up again, each in a transaction of its own.

    Then the savings.
    """
    touched = sorted(set(days))
    for day in touched:
        _refresh(lake, day)
    savings_refresh(lake, {day.replace(day=1) for day in touched})


def _refresh(lake: str, day: date) -> None:
    key: dict[str, Any] = {"lake": lake, "day": day, "db": "", "table": "", "table_owner": ""}
    with transaction.atomic():
        BackupTotals.objects.get_or_create(**key)
        whole = BackupTotals.objects.select_for_update().get(**key)
        rows = _of_tables(lake, day)
        BackupTotals.objects.filter(lake=lake, day=day).exclude(pk=whole.pk).delete()
        if not rows:
            whole.delete()
            return
        BackupTotals.objects.bulk_create(rows, batch_size=500)
        for name in _ADDED:
            setattr(whole, name, sum(getattr(row, name) for row in rows))
        whole.n_tables = len({(row.db, row.table) for row in rows})
        whole.purge_after = min((row.purge_after for row in rows if row.purge_after), default=None)
        whole.save()


def _of_tables(lake: str, day: date) -> list[BackupTotals]:
    batches = BackupBatch.objects.filter(lake=lake, day=day).exclude(state=BackupState.REPORTED)
    keys = batches.order_by().values("db", "table", "table_owner")
    grouped: list[Any] = list(keys.annotate(**_SUMS))
    return [
        BackupTotals(
            lake=lake,
            day=day,
            db=row["db"],
            table=row["table"],
            table_owner=row["table_owner"],
            n_tables=1,
            n_batches=row["of_batches"],
            n_items=row["of_items"],
            n_restored=row["of_restored"],
            n_bytes=row["of_bytes"],
            restored_bytes=row["bytes_restored"],
            purged_bytes=row["bytes_purged"] or 0,
            n_files=row["of_files"],
            n_restorable=row["of_restorable"],
            restorable_items=row["items_back"] or 0,
            restorable_bytes=row["bytes_back"] or 0,
            n_left=row["of_left"],
            n_purging=row["of_purging"],
            n_purged=row["of_purged"],
            purge_after=row["first_purge"],
        )
        for row in grouped
    ]


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
        _keep(lake, Savings.EVER, _added(of_months, {name: name for name in _SAVED}), whole=whole)


def _of_month(lake: str, month: date) -> list[Any]:
    until = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    days = BackupTotals.objects.filter(lake=lake, day__gte=month, day__lt=until).exclude(db="")
    names = ("n_items", "n_restored", "n_bytes", "restored_bytes", "purged_bytes")
    return _added(days, dict(zip(_SAVED, names, strict=True)))


def _added(rows: QuerySet[Any], names: dict[str, str]) -> list[Any]:
    """Return sums by owner and database; the aliases keep clear of the models' own fields."""
    sums: dict[str, Any] = {f"of_{name}": Coalesce(Sum(of), 0) for name, of in names.items()}
    return list(rows.order_by().values(owner=F("table_owner"), name=F("db")).annotate(**sums))


def _keep(lake: str, month: date, sums: list[Any], whole: Savings | None = None) -> None:
    rows = [
        _with_sums(
            Savings(lake=lake, month=month, db=row["name"], table_owner=row["owner"]),
            {name: row[f"of_{name}"] for name in _SAVED},
        )
        for row in sums
    ]
    Savings.objects.bulk_create(rows, batch_size=500)
    total = {name: sum(getattr(row, name) for row in rows) for name in _SAVED}
    _with_sums(whole or Savings(lake=lake, month=month), total).save()


def _with_sums(row: Savings, sums: dict[str, int]) -> Savings:
    for name, value in sums.items():
        setattr(row, name, value)
    row.waiting_bytes = row.dropped_bytes - row.restored_bytes - row.purged_bytes
    return row
