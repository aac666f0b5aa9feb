"""The run of the daily scan: what it asks of its job, and what follows from its result."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from lifecycle.backup.selectors import holds_for_jobs
from lifecycle.inventory.models.findings import GenerationState
from lifecycle.inventory.services.file_system_alarms import file_system_alarm_queue
from lifecycle.inventory.services.ingest import generation_load
from lifecycle.inventory.services.scan import KIND, RECENTLY_READ_DAYS, SOON_DAYS, scan_instant
from lifecycle.inventory.services.scan_report import scan_report
from lifecycle.inventory.services.trim import scans_shown
from lifecycle.models import LatestScan, ScanSnapshot
from lifecycle.notices.services.day_ahead import day_ahead_queue
from lifecycle.notices.services.week_ahead import week_ahead_queue
from lifecycle.policies.services.exceptions import exceptions_lapse
from lifecycle.rules.selectors.path_rules import path_rules
from portal.access.lakes import job_environment
from portal.access.roles.domain import STAFF
from portal.access.services import directory_sync
from portal.events.services import alarms_rescanned
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log_many


class ScanKind(RunKind):
    """Reads the whole lake and judges every path and item."""

    name = KIND
    job = "lifecycle.inventory.jobs.scan"
    queue = "scan"
    results_pass = True
    title = "Scan of the lake"
    start_roles = STAFF
    schedule = Schedule(daily_at_hour=2)

    def scheduled_key(self, lake: str, slot: str) -> str:
        """Return the day's key, which the clock and `daily_cycle` share."""
        return f"scan:{lake}:{slot}"

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the password of the metastore's database."""
        return job_environment(run.lake)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its instant, what people have set, and where the last good result lies."""
        now = scan_instant(run)
        previous = LatestScan.objects.filter(lake=run.lake).select_related("generation")
        last = previous.first()
        return {
            "now": now.isoformat(),
            "previous": last.generation.results_uri if last else None,
            # Smaller counts than the last scan's, which an admin took for true (scan_acceptance).
            "accepted": run.params.get("accepted"),
            **path_rules(run.lake, now=now),
            "holds": holds_for_jobs(run.lake, now=now),
            "still_read_days": RECENTLY_READ_DAYS,
            "soon_days": SOON_DAYS,
        }

    def results_needed(self, lake: str, *, since: datetime) -> Iterable[UUID]:
        """Give the scans whose pictures are or were shown since an instant, or are being loaded."""
        return scans_shown(lake, since=since)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Load the rows, then queue the notices that the new picture calls for. Safe to repeat."""
        if manifest["outcome"] != "done":
            return
        now = scan_instant(run)
        _directory_sync(run.lake)
        is_first = not ScanSnapshot.objects.filter(run=run, state=GenerationState.READY).exists()
        generation = generation_load(run, manifest["result"], now=now)
        if is_first:
            run_log_many(run, scan_report(generation), now=timezone.now())
        week_ahead_queue(generation, now=now)
        day_ahead_queue(generation, now=now)
        file_system_alarm_queue(generation, now=now)
        exceptions_lapse(run.lake, now=now)
        alarms_rescanned(run.lake, read_at=generation.read_at, now=now)


def register_kinds() -> None:
    """Tell the platform of the run kinds of this file."""
    register(ScanKind())


def _directory_sync(lake: str) -> None:
    """Take over who administers what, so that notices go to who answers today."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    if path.exists():
        directory_sync(lake, path=path)
