"""Selects Hudi tables to inspect and how closely, and takes in what was found.

A look is due when something was heard of a table, when somebody asks, and every so often, because
Hudi's commits leave no event. Taken in twice it is the same.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import Code
from optimizer.hudi.inspect.domain.schedule import RETRY, LastRead
from optimizer.hudi.inspect.services.alarms import alarms_tell
from optimizer.hudi.inspect.services.snapshot_rows import ReadLook, look_keep
from optimizer.hudi.tables.selectors.resident import resident_run, watched_tables
from optimizer.models import HudiTable
from optimizer.policies.selectors.hudi_policies import HudiPolicies, hudi_policies_of
from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "observe_hudi"
REFUSED_RETRY = timedelta(hours=1)
LEFT_TO_ITS_SERVICE = timedelta(minutes=5)
_MOST_READ = 512 * 1024**2
_BAD_LOGS = frozenset({Code.CORRUPT_BLOCKS.value, Code.UNKNOWN_BLOCKS.value})

Decide = Callable[..., object]
"""Told that tables of a lake were looked at: `decide(lake, now=now)`."""


def hudi_inspections_due(lake: str, *, now: datetime) -> dict[str, list[int]] | None:
    """Return the params of a run: the tables longest due, few enough; None where none is due.

    At those that a service watches it looks itself, unless it is long at work elsewhere.
    """
    due = HudiTable.objects.filter(lake=lake, is_deleted=False, inspect_due_at__lte=now)
    due = due.exclude(pk__in=watched_tables(lake), inspect_due_at__gt=now - LEFT_TO_ITS_SERVICE)
    most = settings.LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN
    return _params(due.order_by("inspect_due_at", "pk")[:most], now=now)


def hudi_inspections_request(run: Run) -> dict[str, Any]:
    """Return what the job must know of each table, as it is named and lies now."""
    logs, keys = set(run.params["logs"]), set(run.params["keys"])
    rows = HudiTable.objects.filter(lake=run.lake, is_deleted=False, pk__in=run.params["tables"])
    tables = (
        _request(row, read_logs=row.pk in logs, read_keys=row.pk in keys)
        for row in rows.order_by("pk")
    )
    return {"tables": list(tables)}


def inspection_request(row: HudiTable, *, now: datetime) -> dict[str, Any]:
    """Return what a job must know of a table to look at it, as closely as is due."""
    last = _last_read(row)
    return _request(row, read_logs=last.reads_logs(now), read_keys=last.reads_keys(now))


def store_inspection(run: Run, key: int) -> dict[str, Any] | None:
    """Read what a run's job wrote of a table; None where it did not come to it.

    Raises:
        RuleViolation: `hudi.too_large`, `hudi.look`.
    """
    config = get_lake(run.lake)
    path = config.path(f"{run.spool.rstrip('/')}/results/looks").child(f"{key}.json")
    files = open_file_system(path, config=config)
    status = files.status(path)
    if status is None:
        return None
    if status.size > _MOST_READ:
        raise RuleViolation(
            "hudi.too_large",
            f"Its inspection takes {status.size:,} bytes, and {_MOST_READ:,} are read; cluster the "
            "table into fewer file groups.",
        )
    try:
        return dict(json.loads(files.read(path)))
    except (TypeError, ValueError) as error:
        raise RuleViolation("hudi.look", f"Its inspection cannot be read: {error}.") from error


def inspection_error(lake: str, key: int, reason: str, *, due_at: datetime) -> None:
    """Say why a look found nothing, and when the next one is due."""
    rows = HudiTable.objects.filter(pk=key, lake=lake)
    rows.update(inspection_error=reason)
    rows.filter(is_deleted=False).update(inspect_due_at=due_at)


def hudi_inspections_ingest(
    run: Run, manifest: Mapping[str, Any], *, now: datetime, decide: Decide | None = None
) -> None:
    """Take in what a run found; tables that it did not come to are tried again later."""
    wanted = [int(key) for key in run.params["tables"]]
    looked: list[int] = []
    if manifest["outcome"] == "done":
        failed = {int(one["table_id"]): str(one["reason"]) for one in manifest["result"]["failed"]}
        policies = hudi_policies_of(run.lake)
        for key in wanted:
            try:
                if key not in failed and _take_in(run, key, policies, now=now):
                    looked.append(key)
            except RuleViolation as error:
                inspection_error(run.lake, key, error.message, due_at=now + REFUSED_RETRY)
        for key, reason in failed.items():
            inspection_error(run.lake, key, reason, due_at=now + RETRY)
    rest = HudiTable.objects.filter(pk__in=wanted, lake=run.lake, inspect_due_at__lte=now)
    rest.exclude(pk__in=looked).update(inspect_due_at=now + RETRY)
    if looked and decide is not None:
        decide(run.lake, now=now)
    alarms_tell(run.lake, now=now)


def hudi_inspection_ask(
    lake: str, table_id: int, *, by: str, read_keys: bool = False, now: datetime
) -> Run:
    """Ask for a look at one table and its log files without waiting for the clock.

    Asked twice it is one; while another run is under way the table comes in the next.

    Raises:
        NotVisible: `hudi.table`, it is not there.
    """
    tables = HudiTable.objects.filter(lake=lake, pk=table_id, is_deleted=False)
    wanted: dict[str, Any] = {"inspect_due_at": now, "include_logs": True}
    if read_keys:
        wanted["wants_keys"] = True
    if not tables.update(**wanted):
        raise NotVisible("hudi.table", "There is no such Hudi table for you.")
    under_way = hudi_inspection_under_way(lake)
    if table_id in watched_tables(lake):
        under_way = resident_run(lake)
    if under_way is not None:
        return under_way
    params = _params(tables, now=now)
    return run_request(KIND, lake=lake, params=params or {}, requested_by=by, now=now)


def hudi_inspection_under_way(lake: str) -> Run | None:
    """Return the run that looks at Hudi tables of a lake now, or waits to."""
    return Run.objects.filter(lake=lake, kind=KIND, finished_at=None).first()


def _params(rows: Any, *, now: datetime) -> dict[str, list[int]] | None:
    params: dict[str, list[int]] = {"tables": [], "logs": [], "keys": []}
    for row in rows:
        last = _last_read(row)
        params["tables"].append(row.pk)
        if last.reads_logs(now):
            params["logs"].append(row.pk)
        if last.reads_keys(now):
            params["keys"].append(row.pk)
    return params if params["tables"] else None


def _take_in(run: Run, key: int, policies: HudiPolicies, *, now: datetime) -> bool:
    name = HudiTable.objects.filter(pk=key, lake=run.lake).values_list("db", "table").first()
    stored = store_inspection(run, key)
    if name is None or stored is None:
        return False
    found = ReadLook(
        HudiInspection.from_dict(stored), key in run.params["logs"], key in run.params["keys"]
    )
    return look_keep(run.lake, key, found, policies.of(*name).policy, now=now)


def _last_read(row: HudiTable) -> LastRead:
    return LastRead(
        row.logs_read_at,
        row.keys_read_at,
        any(one["code"] in _BAD_LOGS for one in row.findings),
        row.include_logs,
        row.wants_keys,
    )


def _request(row: HudiTable, *, read_logs: bool, read_keys: bool) -> dict[str, Any]:
    return {
        "table_id": row.pk,
        "db": row.db,
        "table": row.table,
        "location": row.location,
        "properties": row.properties,
        "read_logs": read_logs,
        "read_keys": read_keys,
    }
