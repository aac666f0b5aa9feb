"""How does a scan of the lake start, and what becomes of its result?

A scan is a run of kind `lifecycle.scan`. One that fails leaves the last whole picture in place.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from lifecycle.models import CurrentGeneration, Generation
from lifecycle.models.findings import GenerationState
from lifecycle.selectors.path_rules import path_rules
from lifecycle.services.day_ahead import day_ahead_queue
from lifecycle.services.file_system_alarms import file_system_alarm_queue
from lifecycle.services.ingest import generation_load
from lifecycle.services.notices import week_ahead_queue
from lifecycle.services.path_waivers import waivers_lapse
from lifecycle.services.scan_report import scan_report
from lifecycle.services.trim import scans_shown
from portal.access.lakes import get_lake, job_environment
from portal.access.models import KEEPERS, User
from portal.access.services import directory_sync
from portal.act.selectors import holds_for_jobs
from portal.events.services import alarms_rescanned
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed
from portal.lake.reasons import check_text
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds import RunKind, get_kind, register
from portal.runs.logs import run_log_many
from portal.runs.models import Run
from portal.runs.services import run_request

KIND = "lifecycle.scan"
SOON_DAYS = 7
STILL_READ_DAYS = 30


class ScanKind(RunKind):
    """Reads the whole lake and judges every path and item."""

    name = KIND
    job = "lifecycle.jobs.scan"
    queue = "scan"
    results_pass = True
    title = "Scan of the lake"
    start_roles = KEEPERS
    schedule = Schedule(daily_at_hour=2)

    def scheduled_key(self, lake: str, slot: str) -> str:
        """Give the day's key, which the clock and `daily_cycle` share."""
        return f"scan:{lake}:{slot}"

    def environment(self, run: Run) -> dict[str, str]:
        """Give the job the password of the metastore's database."""
        return job_environment(run.lake)

    def request(self, run: Run) -> dict[str, Any]:
        """Give the job its instant, what people have set, and where the last good result lies."""
        now = scan_instant(run)
        previous = CurrentGeneration.objects.filter(lake=run.lake).select_related("generation")
        last = previous.first()
        return {
            "now": now.isoformat(),
            "previous": last.generation.results_uri if last else None,
            # Smaller counts than the last scan's, which an admin took for true (scan_acceptance).
            "accepted": run.params.get("accepted"),
            **path_rules(run.lake, now=now),
            "holds": holds_for_jobs(run.lake, now=now),
            "still_read_days": STILL_READ_DAYS,
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
        is_first = not Generation.objects.filter(run=run, state=GenerationState.READY).exists()
        generation = generation_load(run, manifest["result"], now=now)
        if is_first:
            run_log_many(run, scan_report(generation), now=timezone.now())
        week_ahead_queue(generation, now=now)
        day_ahead_queue(generation, now=now)
        file_system_alarm_queue(generation, now=now)
        waivers_lapse(run.lake, now=now)
        alarms_rescanned(run.lake, read_at=generation.read_at, now=now)


def register_kinds() -> None:
    """Tell the platform of the run kinds of this file."""
    register(ScanKind())


def scan_request(lake: str, *, user: User, now: datetime, reason: str = "") -> Run:
    """Ask for a scan now; while one is under way it gives that one.

    Raises:
        NotAllowed: `scan.role` for anyone but an admin or operator.
    """
    if not user.roles & ScanKind.start_roles:
        raise NotAllowed("scan.role", "Only an admin or an operator starts a scan; ask one.")
    check_text(reason)
    unfinished = Run.objects.filter(lake=lake, kind=KIND, finished_at=None).first()
    if unfinished is not None:
        return unfinished
    params = {"now": now.isoformat()}
    return run_request(
        KIND, lake=lake, params=params, requested_by=user.username, reason=reason, now=now
    )


def scan_request_daily(lake: str, *, now: datetime) -> Run:
    """Ask for the day's scan; called again on that day it gives the run that is there.

    A scan of the day that failed or was cancelled is followed by a new one.
    """
    day = day_of(now, get_lake(lake).zone)
    key = get_kind(KIND).scheduled_key(lake, day.isoformat())
    ended_badly = (RunState.FAILED, RunState.CANCELLED)
    n_bad = Run.objects.filter(unique_key__startswith=key, state__in=ended_badly).count()
    return run_request(
        KIND,
        lake=lake,
        params={"now": now.isoformat()},
        requested_by="schedule",
        reason="the daily scan",
        unique_key=f"{key}:{n_bad}" if n_bad else key,
        now=now,
    )


def scan_instant(run: Run) -> datetime:
    """Give the instant that the run judges due dates against."""
    return datetime.fromisoformat(run.params["now"])


def _directory_sync(lake: str) -> None:
    """Take over who administers what, so that notices go to who answers today."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    if path.exists():
        directory_sync(lake, path=path)
