"""Updates the daily totals of backups as the status of their batches changes.

A day is added up again, under a lock on its row, from the batches as they are committed then: any
number of runs may ask for the same day at once, and asking again changes nothing.
"""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Min, Q, Sum

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch, BackupTotals
from lifecycle.backup.selectors import RESTORABLE
from lifecycle.backup.services.savings import savings_refresh

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
