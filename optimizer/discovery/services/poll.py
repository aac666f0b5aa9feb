"""Polls a lake's Iceberg and Hudi tables and compares them with rows, to find missed changes.

It repairs what events missed and takes in the tables that were there before the portal. Several
commits may hide behind one change: the look at the table's metadata finds them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.core.services.retention import tasks_forget
from optimizer.discovery.domain import Polled, next_poll_at
from optimizer.hudi.tables.services.poll import hudi_compare, hudi_listed
from optimizer.iceberg.tables.domain.events import PARAMETERS, HeardTable, iceberg_table
from optimizer.iceberg.tables.services.record_changes import note_gone, note_listed
from optimizer.iceberg.tables.services.retention import commits_forget
from optimizer.models import IcebergTable
from portal.access.lakes import get_lake
from portal.access.models import KEEPERS
from portal.connectors.metastore_db import parameter_column
from portal.events.registry import Missed
from portal.events.services import alarms_rescanned
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.runs.requests.services import run_request
from portal.runs.results.parquet import result_rows

KIND = "optimizer.poll"
SUBSCRIBER = "optimizer"
_RESULTS = "iceberg_tables"
_CHUNK = 500
_MOST_FAILURES = 8
_COLUMNS = {name: parameter_column(name) for name in ("metadata_location", *PARAMETERS)}


class PollKind(RunKind):
    """Compares the metastore's Iceberg and Hudi tables with what is known of them."""

    name = KIND
    job = "optimizer.discovery.jobs"
    title = "Poll of Iceberg and Hudi tables"
    queue = "scan"
    results_pass = True
    start_roles = KEEPERS
    # How often it is asked whether one is due; `poll_times` says when that is.
    schedule = Schedule(every=timedelta(minutes=1))
    longest = timedelta(hours=1)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted each hour, sooner after a failure, and never beside another."""
        newest_first = Run.objects.filter(lake=lake, kind=KIND).order_by("-queued_at")
        said = list(newest_first.values_list("state", "queued_at", "finished_at")[:_MOST_FAILURES])
        ended = [
            Polled(asked_at, ended_at, state == RunState.FAILED)
            for state, asked_at, ended_at in said
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
        listed = _listed(run.lake, result["results_uri"])
        n_changed, n_gone = poll_compare(run.lake, listed, read_at=read_at, now=timezone.now())
        hudi = hudi_listed(run.lake, result["results_uri"])
        of_hudi = hudi_compare(run.lake, hudi, read_at=read_at, now=timezone.now())
        n_changed, n_gone = n_changed + of_hudi[0], n_gone + of_hudi[1]
        text = f"{n_changed} tables had changed unheard of, or were new; {n_gone} were gone."
        run_log(run, text, now=timezone.now())
        commits_forget(run.lake, now=timezone.now())
        tasks_forget(run.lake, now=timezone.now())
        alarms_rescanned(run.lake, read_at=read_at, now=timezone.now(), subscriber=SUBSCRIBER)


def poll_compare(
    lake: str, listed: Iterator[Sequence[HeardTable]], *, read_at: datetime, now: datetime
) -> tuple[int, int]:
    """Write what differs from our rows, in chunks; returns how many changed and how many went."""
    seen: set[tuple[str, str]] = set()
    n_changed = 0
    for some in listed:
        seen.update((one.db, one.table) for one in some)
        n_changed += len(note_listed(lake, some, read_at=read_at, now=now).changed)
    n_gone = 0
    for keys in _unseen(lake, seen):
        n_gone += note_gone(lake, keys, read_at=read_at, now=now).n_gone
    return n_changed, n_gone


def poll_request(lake: str, *, by: str, reason: str = "", now: datetime) -> Run:
    """Ask for a poll; one that has not begun yet will see the same and is given instead."""
    waiting = Run.objects.filter(lake=lake, kind=KIND, state=RunState.QUEUED).first()
    if waiting is not None:
        return waiting
    return run_request(KIND, lake=lake, params={}, requested_by=by, reason=reason, now=now)


def poll_missed(missed: Missed, *, now: datetime) -> None:
    """Ask for a poll because events were missed."""
    why = f"Events were missed. {missed.why}"
    poll_request(missed.lake, by="system", reason=why, now=now)


def register_poll_kind() -> None:
    """Tell the platform of the runs of this file."""
    register(PollKind())


def _listed(lake: str, results_uri: str) -> Iterator[list[HeardTable]]:
    for rows in result_rows(get_lake(lake), results_uri, _RESULTS, chunk=_CHUNK):
        read = (_heard(row) for row in rows)
        yield [one for one in read if one is not None]


def _heard(row: Mapping[str, Any]) -> HeardTable | None:
    parameters = {name: row[column] for name, column in _COLUMNS.items() if row[column] is not None}
    parameters["table_type"] = "iceberg"
    return iceberg_table(
        (row["db"], row["tbl"]),
        parameters,
        owner=row["owner"] or "",
        location=row["location"] or "",
    )


def _unseen(lake: str, seen: set[tuple[str, str]]) -> Iterator[list[int]]:
    """Yield the keys of tables that are there by our rows only, in keyset chunks."""
    last = 0
    rows = IcebergTable.objects.filter(lake=lake, is_gone=False).order_by("pk")
    while chunk := list(rows.filter(pk__gt=last).values_list("pk", "db", "table")[:_CHUNK]):
        last = chunk[-1][0]
        keys = [pk for pk, db, table in chunk if (db, table) not in seen]
        if keys:
            yield keys
