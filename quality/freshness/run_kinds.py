"""Run kind that inspects tables with a rule or a deadline, every minute while any is due.

It is done inside the worker, in bounded time; what it leaves is due in the next one.
"""

import time
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from portal.access.lakes import get_lake
from portal.access.roles.domain import STAFF
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from quality.freshness.selectors.expected import late_unsaid
from quality.freshness.services.inspection import look_at
from quality.freshness.services.late_mails import late_tell
from quality.models import FreshnessRule

KIND = "readiness.look"
_TURN_SECONDS = 200.0
_CHUNK = 200
_AGAIN = timedelta(minutes=10)
_OPEN = (RunState.QUEUED, RunState.CLAIMED, RunState.RUNNING, RunState.SETTLING)


class InspectionRunKind(RunKind):
    """Looks at what is expected, lets rules say what is ready, and tells who is late."""

    name = KIND
    title = "Check for ready partitions"
    start_roles = STAFF
    schedule = Schedule(every=timedelta(minutes=1))
    longest = timedelta(minutes=10)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted while something is due, and never beside another."""
        if Run.objects.filter(lake=lake, kind=KIND, state__in=_OPEN).exists():
            return None
        return {} if _is_due(lake, now=now) else None

    def execute(self, run: Run) -> dict[str, Any]:
        """Look at what is due; a metastore that is away leaves the rest for later."""
        now = timezone.now()
        until = time.monotonic() + _TURN_SECONDS
        n_tables = n_set = 0
        problem = ""
        try:
            with Metastore.connect(get_lake(run.lake)) as metastore:
                while time.monotonic() < until and (rules := _due(run.lake, now=now)):
                    for rule in rules:
                        n_tables, n_set = n_tables + 1, n_set + _look(rule, metastore, now=now)
                        if time.monotonic() >= until:
                            break
        except ExternalFailure as error:
            problem = error.message
        n_late = late_tell(run.lake, now=timezone.now())
        return {"n_tables": n_tables, "n_set": n_set, "n_late": n_late, "problem": problem}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Say in the run's log what came of it."""
        if manifest["outcome"] != "done":
            return
        found = manifest["result"]
        text = (
            f"{found['n_tables']} tables were checked; rules said of {found['n_set']} periods "
            f"that they are ready; people were notified of {found['n_late']} that are late."
        )
        if found["problem"]:
            text += f" The rest is checked later: {found['problem']}"
        run_log(run, text, now=timezone.now())


def register_inspect_kind() -> None:
    """Tell the platform of the runs of this file."""
    register(InspectionRunKind())


def _is_due(lake: str, *, now: datetime) -> bool:
    if FreshnessRule.objects.filter(lake=lake, look_at__lte=now).exists():
        return True
    return late_unsaid(lake, now=now).exists()


def _due(lake: str, *, now: datetime) -> list[FreshnessRule]:
    rows = FreshnessRule.objects.filter(lake=lake, look_at__lte=now)
    return list(rows.order_by("look_at", "pk")[:_CHUNK])


def _look(rule: FreshnessRule, metastore: Metastore, *, now: datetime) -> int:
    """Look at one table; what it refuses stands there and keeps no other waiting."""
    try:
        return look_at(rule, metastore, now=now)
    except ExternalFailure as error:
        _put_off(rule, error, now=now)
        raise
    except PortalError as error:
        _put_off(rule, error, now=now)
        return 0


def _put_off(rule: FreshnessRule, error: PortalError, *, now: datetime) -> None:
    # A table that the metastore cannot answer for is not the first of the next run again.
    FreshnessRule.objects.filter(pk=rule.pk).update(look_at=now + _AGAIN, problem=error.message)
