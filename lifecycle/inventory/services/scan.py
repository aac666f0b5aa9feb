"""Starts scans of the lake and takes in their results.

A scan is a run of kind `lifecycle.scan`. One that fails leaves the last whole picture in place.
"""

from datetime import datetime

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed
from portal.lake.reasons import check_text
from portal.runs.domain import RunState
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.requests.services import SCHEDULE, run_request

KIND = "lifecycle.scan"
SOON_DAYS = 7
RECENTLY_READ_DAYS = 30


def scan_request(lake: str, *, user: User, now: datetime, reason: str = "") -> Run:
    """Ask for a scan now; while one is under way it gives that one.

    Raises:
        NotAllowed: `scan.role` for anyone but an admin or operator.
    """
    if not user.is_lake_staff_of(lake):
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
        requested_by=SCHEDULE,
        reason="the daily scan",
        unique_key=f"{key}:{n_bad}" if n_bad else key,
        now=now,
    )


def scan_instant(run: Run) -> datetime:
    """Return the instant that the run judges due dates against."""
    return datetime.fromisoformat(run.params["now"])
