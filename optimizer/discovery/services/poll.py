"""Polls a lake's Iceberg and Hudi tables, and has each format compare them with its rows.

It repairs what events missed and takes in the tables that were there before the portal.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.core.services.maintainers import all_maintainers
from optimizer.core.services.retention import tasks_forget
from optimizer.discovery.domain import Polled, next_poll_at
from portal.access.lakes import get_lake
from portal.access.roles.domain import STAFF
from portal.events.registry import Missed
from portal.events.services import alarms_rescanned
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.runs.requests.services import run_request

KIND = "optimizer.poll"
SUBSCRIBER = "optimizer"
_MOST_FAILURES = 8


class PollKind(RunKind):
    """Compares the metastore's Iceberg and Hudi tables with what is known of them."""

    name = KIND
    job = "optimizer.discovery.jobs"
    title = "Poll of Iceberg and Hudi tables"
    queue = "scan"
    results_pass = True
    start_roles = STAFF
    # How often it is asked whether one is due; `poll_times` says when that is.
    schedule = Schedule(every=timedelta(minutes=1))
    longest = timedelta(hours=1)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted each hour, sooner after a failure, and never beside another."""
        newest_first = Run.objects.filter(lake=lake, kind=KIND).order_by("-queued_at")
        said = list(newest_first.values_list("state", "queued_at", "finished_at")[:_MOST_FAILURES])
        ended = [
            Polled(requested_at, ended_at, state == RunState.FAILED)
            for state, requested_at, ended_at in said
            if ended_at is not None
        ]
        due_at = next_poll_at(ended)
        if len(ended) < len(said) or (due_at is not None and now < due_at):
            return None
        return {}

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the password of the metastore's database."""
        return {"LW_METASTORE_DB_PASSWORD": get_lake(run.lake).metastore_db.password()}

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job an instant that lies before its reading."""
        return {"read_at": timezone.now().isoformat()}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what changed; said again it changes nothing."""
        if manifest["outcome"] != "done":
            return
        result = manifest["result"]
        read_at = datetime.fromisoformat(result["read_at"])
        n_changed = n_gone = 0
        for one in all_maintainers():
            uri = result["results_uri"]
            changed, gone = one.poll(run.lake, uri, read_at=read_at, now=timezone.now())
            n_changed, n_gone = n_changed + changed, n_gone + gone
        text = f"{n_changed} tables had changed unheard of, or were new; {n_gone} were gone."
        run_log(run, text, now=timezone.now())
        tasks_forget(run.lake, now=timezone.now())
        alarms_rescanned(run.lake, read_at=read_at, now=timezone.now(), subscriber=SUBSCRIBER)


def poll_request(lake: str, *, by: str, reason: str = "", now: datetime) -> Run:
    """Ask for a poll; one that has not begun yet will see the same and is given instead."""
    waiting = Run.objects.filter(lake=lake, kind=KIND, state=RunState.QUEUED).first()
    if waiting is not None:
        return waiting
    return run_request(KIND, lake=lake, params={}, requested_by=by, reason=reason, now=now)


def poll_missed(missed: Missed, *, now: datetime) -> None:
    """Ask for a poll because events were missed."""
    reason = f"Events were missed. {missed.reason}"
    poll_request(missed.lake, by="system", reason=reason, now=now)


def register_poll_kind() -> None:
    """Tell the platform of the runs of this file."""
    register(PollKind())
