"""Stores the result of a purge run: what was purged, what was left, and what was seen."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.probing import Told, probes_ingest
from lifecycle.backup.services.totals import backup_totals_refresh
from portal.runs.models import Run


def purge_ingest(
    run: Run,
    manifest: Mapping[str, Any],
    *,
    now: datetime,
    tell: Callable[[Told], object] = lambda _told: None,
) -> None:
    """Take a settled purge into the catalogue; called again it changes nothing.

    Raises:
        DataSafetyError: `act.damaged_backup`, when a backup was found to lack files.
    """
    act_ingest(run, manifest, now=now)
    said = (manifest.get("result") or {}).get("batches") or []
    _note_left(run.lake, said, now=now)
    seen = [
        {"backup": one["backup"], "items": one["probed"]}
        for one in said
        if one["probed"] is not None
    ]
    probes_ingest(run.lake, seen, run_id=run.pk, now=now, tell=tell)


def _note_left(lake: str, said: Iterable[Mapping[str, Any]], *, now: datetime) -> None:
    """Write on each batch that was left alone why, so that its page does not promise its end."""
    days: set[date] = set()
    for one in said:
        if one["reason"]:
            rows = BackupBatch.objects.filter(public_id=one["backup"], purged_at__isnull=True)
            days.update(rows.values_list("day", flat=True))
            rows.update(purge_tried_at=now, purge_skipped_reason=one["reason"])
    backup_totals_refresh(lake, days)
