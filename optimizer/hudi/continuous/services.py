"""Exchanges orders and results with the resident service of Hudi tables.

All of it goes through files of the run's spool, at each of its beats (every 5 to 10 seconds): first
what came of tasks and looks is taken in, then it is decided what follows, and that is written into
the control file. The file is the portal's memory too: looks that it names as `seen` are not read
again. A beat that dies in the middle is done again by the next, and changes nothing twice.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from optimizer.core.domain.tasks import LEAVE_OUT, TaskState
from optimizer.core.services.dispatcher import claim_more
from optimizer.core.services.results import result_take, sent_of
from optimizer.core.services.task_lifecycle import stop_requests
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.schedule import RETRY
from optimizer.hudi.inspect.services.alarms import alarms_tell
from optimizer.hudi.inspect.services.inspection import (
    REFUSED_RETRY,
    Decide,
    inspection_error,
    inspection_request,
    store_inspection,
)
from optimizer.hudi.inspect.services.snapshot_rows import ReadLook, look_keep
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.orders import order_of
from optimizer.hudi.tables.selectors.resident import resident_tables
from optimizer.models import HudiTable, OptimizeTask
from optimizer.policies.selectors.hudi_policies import HudiPolicies, hudi_policies_of
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.spark.spool import Spool

MAX_INSPECTIONS = 50
_LEFT = "Nothing of it was left to do when its turn came."


def resident_turn(run: Run, decide: Decide, *, now: datetime) -> dict[str, Any]:
    """Hear what the service did, and give what it does next; nothing before it has begun."""
    if run.state != RunState.RUNNING or not run.progress_n:
        return {}
    before = open_spool(run).read_control()
    seen = resident_hear(run, decide, before=before, now=now)
    claim_more(HUDI, run, rows=HUDI.watched(run.lake, now=now), now=now)
    wanted = {
        "orders": _orders(run, before, now=now),
        "watch": list(_watch(run.lake, now=now)),
        "seen": seen,
        LEAVE_OUT: stop_requests(run),
    }
    return wanted if wanted != before else {}


def resident_hear(
    run: Run, decide: Decide, *, before: Mapping[str, Any], now: datetime
) -> dict[str, str]:
    """Take in what the service did since `before`; gives of each table which look was seen."""
    spool = open_spool(run)
    for task in _sent(run):
        told = _read(spool, f"tasks/{turn_of(task)}.json")
        if told is not None:
            result_take(HUDI, task, told, {}, by_will=True, now=now)
    seen: dict[str, str] = dict(before.get("seen", {}))
    made = {
        key: at for key, at in (_read(spool, "looks.json") or {}).items() if at != seen.get(key)
    }
    if not made:
        return seen
    policies = hudi_policies_of(run.lake)
    for key, at in sorted(made.items(), key=lambda one: one[1], reverse=True)[:MAX_INSPECTIONS]:
        _keep(run, int(key), policies, now=now)
        seen[key] = at
    decide(run.lake, now=now)
    alarms_tell(run.lake, now=now)
    return seen


def resident_left(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Give tasks back that a service that ended never began: it is not their fault."""
    begun = (_read(open_spool(run), "begun.json") or {}).get("turn")
    for task in _sent(run):
        if turn_of(task) != begun:
            result_take(HUDI, task, None, manifest, by_will=True, now=now)


def turn_of(task: OptimizeTask) -> str:
    """Name a task as it was sent this time: one that came back is sent again."""
    started_at = task.started_at
    return f"{task.pk}-{int(started_at.timestamp() * 1000) if started_at else 0}"


def _sent(run: Run) -> list[OptimizeTask]:
    return list(sent_of(HUDI, run).order_by("-score", "created_at", "pk"))


def _orders(run: Run, before: Mapping[str, Any], *, now: datetime) -> list[dict[str, Any]]:
    """Return what the run has to do, the first first; an order once given stays as it is."""
    sent = {turn_of(task): task for task in _sent(run)}
    given = [one for one in before.get("orders", ()) if one["turn"] in sent]
    known = {one["turn"] for one in given}
    new = {turn: task for turn, task in sent.items() if turn not in known}
    if not new:
        return given
    policies = hudi_policies_of(run.lake)
    for turn, task in new.items():
        try:
            order = order_of(task, policies)
        except RuleViolation as error:
            # A look that cannot be read says nothing of what there is to do.
            result_take(HUDI, task, None, {"error": error.as_dict()}, by_will=False, now=now)
            continue
        if order is None:
            nothing = {"outcome": TaskState.NOTHING.value, "reason": _LEFT}
            result_take(HUDI, task, nothing, {}, by_will=True, now=now)
        else:
            given.append({**order, "turn": turn})
    return given


def _watch(lake: str, *, now: datetime) -> Iterator[dict[str, Any]]:
    rows = HudiTable.objects.filter(pk__in=resident_tables(lake)).order_by("pk")
    for row in rows:
        due_at = row.inspect_due_at
        yield {
            **inspection_request(row, now=now),
            "due": due_at.isoformat() if due_at is not None and due_at <= now else "",
        }


def _keep(run: Run, key: int, policies: HudiPolicies, *, now: datetime) -> None:
    """Show what a look found, or why it found nothing."""
    name = HudiTable.objects.filter(pk=key, lake=run.lake).values_list("db", "table").first()
    try:
        found = store_inspection(run, key)
        if name is None or found is None:
            return
        if "failed" in found:
            inspection_error(run.lake, key, str(found["failed"]), due_at=now + RETRY)
            return
        look = HudiInspection.from_dict(found.get("look") or {})
        read = ReadLook(look, bool(found.get("read_logs")), bool(found.get("read_keys")))
        look_keep(run.lake, key, read, policies.of(*name).policy, now=now)
    except RuleViolation as error:
        inspection_error(run.lake, key, error.message, due_at=now + REFUSED_RETRY)


def _read(spool: Spool, name: str) -> dict[str, Any] | None:
    """Read a file of the results; None where it is not there, or not there whole."""
    try:
        return dict(json.loads(spool.fs.read(spool.results.child(*name.split("/")))))
    except (NotVisible, ValueError, TypeError):
        return None
