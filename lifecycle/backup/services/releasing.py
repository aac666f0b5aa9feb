"""Puts the time of a press of the emergency stop onto the days of every backup, at its release."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.db.models import F

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.totals import backup_totals_refresh


def backups_keep_longer(lake: str, *, pressed_at: datetime, now: datetime) -> Callable[[], None]:
    """Keep each backup for longer by the time of the press: nothing could be restored meanwhile.

    Returns what brings the totals up to date after the transaction of the release.
    """
    _keep_longer(lake, pressed_at=pressed_at, now=now)
    return partial(_refresh_totals, lake)


def _refresh_totals(lake: str) -> None:
    kept = BackupBatch.objects.filter(lake=lake, purged_at__isnull=True)
    backup_totals_refresh(lake, kept.order_by().values_list("day", flat=True).distinct())


def _keep_longer(lake: str, *, pressed_at: datetime, now: datetime) -> None:
    kept = BackupBatch.objects.filter(lake=lake, purged_at__isnull=True)
    before = kept.filter(dropped_at__lte=pressed_at)
    before.update(purge_after=F("purge_after") + (now - pressed_at))
    for batch in kept.filter(dropped_at__gt=pressed_at, dropped_at__lt=now):
        if batch.purge_after is not None:
            batch.purge_after += now - batch.dropped_at
            batch.save(update_fields=["purge_after"])
