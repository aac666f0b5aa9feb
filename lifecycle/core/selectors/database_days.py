"""Reads a database's notice and backup days, and the backups that keep their original days."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min, Sum

from lifecycle.backup.models import BackupTotals
from lifecycle.core.domain.days import Days
from lifecycle.models import DatabaseSetting


@dataclass(frozen=True, slots=True)
class Kept:
    """Backups of a database that can come back, and when the first of them may be purged."""

    n_batches: int
    first_purge_at: datetime | None


def days_of(lake: str, db: str) -> Days:
    """Return the days that count for a database; the usual ones where nobody set any."""
    setting = DatabaseSetting.objects.filter(lake=lake, db=db).first()
    return Days(setting.notice_days, setting.backup_days) if setting else Days()


def backups_kept(lake: str, db: str) -> Kept:
    """Return what a change of the backup days leaves as it is."""
    rows = BackupTotals.objects.filter(lake=lake, db=db, n_restorable__gt=0)
    found = rows.aggregate(n=Sum("n_restorable"), first=Min("purge_after"))
    return Kept(found["n"] or 0, found["first"])
