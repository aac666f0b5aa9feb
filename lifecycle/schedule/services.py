"""Runs one whole day, from the scan to the mails that are really sent. For demos and tests.

In production the clock (`tasks/schedule.py`) asks for the same steps; here a day can be played for
a given instant, in this process, by the same code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from lifecycle.drop.services.standing_plans import standing_plans_make
from lifecycle.inventory.services.scan import scan_request_daily
from lifecycle.models import ScanSnapshot
from lifecycle.notices.services.daily_report import daily_report_queue
from lifecycle.notices.services.day_ahead import day_ahead_queue
from lifecycle.notices.services.week_ahead import week_ahead_queue
from portal.access.lakes import get_lake
from portal.approvals.services import approvals_lapse
from portal.lake.clock import day_of
from portal.lake.counts import count_words
from portal.lake.errors import ExternalFailure, NotAllowed
from portal.notices.services import notices_send
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive


@dataclass(frozen=True)
class DayReport:
    """What the day did."""

    generation: ScanSnapshot
    n_sent: int
    n_failed: int
    n_plans: int
    n_lapsed: int


def daily_cycle(lake: str, *, now: datetime, say: Callable[[str], None]) -> DayReport:
    """Play one day at `now`; played again it scans, writes and plans nothing twice.

    Raises:
        NotAllowed: `day.played` where time must not be played (production).
        ExternalFailure: `scan.failed` when the day's scan did not end well.
    """
    if not settings.LAKEWARDEN_ALLOW_PLAYED_TIME:
        raise NotAllowed("day.played", "Days are not played in production; the clock runs them.")
    generation = _scanned(lake, now=now)
    say(f"scanned {count_words(generation.totals.get('n_partitions', 0), 'partition')}")
    week_ahead_queue(generation, now=now)
    day_ahead_queue(generation, now=now)
    sent, failed = _send_all(lake, now=now)
    say(f"{count_words(sent, 'mail')} sent" + (f", {failed} could not be sent" if failed else ""))
    n_lapsed = approvals_lapse(now)
    plans = standing_plans_make(lake, now)
    for plan in plans:
        if plan.plan_run_id:
            run_drive(plan.plan_run_id)
    if plans:
        say(f"{count_words(len(plans), 'plan')} by standing rules")
    daily_report_queue(generation, now=now)
    n_reports, n_refused = _send_all(lake, now=now)
    say(f"{n_reports} reports and alarms sent")
    return DayReport(generation, sent + n_reports, failed + n_refused, len(plans), n_lapsed)


def _scanned(lake: str, *, now: datetime) -> ScanSnapshot:
    run = run_drive(scan_request_daily(lake, now=now).pk)
    if run.state != RunState.DONE:
        raise ExternalFailure(
            "scan.failed",
            f"The scan of the day ended as {run.state}: {_said(run)}",
            service="scan",
            retryable=True,
            run=run.pk,
        )
    return ScanSnapshot.objects.get(run=run)


def _said(run: Run) -> str:
    error = run.error or {}
    return str(error.get("message") or run.message or "see its log")


def _send_all(lake: str, *, now: datetime) -> tuple[int, int]:
    """Send until nothing more is due; what must be tried again later stays queued."""
    today = day_of(now, get_lake(lake).zone)
    sent = failed = 0
    while True:
        counts = notices_send(now=now, today=today, lake=lake)
        sent, failed = sent + counts["sent"], failed + counts["failed"]
        if not counts["sent"] and not counts["failed"]:
            return sent, failed + counts["retry"]
