"""Turns what a run listed of a Hudi table into a list that people approve.

The list stands whole in its plan; what people approve is the sha256 of it. Its task waits for them,
and is the only one that may act on it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from optimizer.core.domain.sizes import size_words
from optimizer.core.domain.tasks import TaskState
from optimizer.hudi.inspect.domain.facts import Action
from optimizer.hudi.inspect.domain.timeline import PLANNED, WRITES
from optimizer.hudi.maintenance.domain.tasks import TASKS, Service, Step, task_name
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.services.removals import removal_open
from portal.lake.counts import count_words

_SAMPLE = 50
_ROLLED_BACK = {one.value for one in (*WRITES, *PLANNED, Action.ROLLBACK)}


@dataclass(frozen=True, slots=True)
class HudiList:
    """What would go: `items` in words; `instants` or `partitions` are what the task acts on."""

    items: Sequence[str]
    n_items: int
    n_files: int
    n_bytes: int
    found: Mapping[str, Any]
    instants: list[str] | None = None
    partitions: list[str] | None = None


def list_of(task: OptimizeTask, found: Mapping[str, Any], *, now: datetime) -> HudiList | None:
    """Read what a run listed; None where nothing would go."""
    service, _ = TASKS[task.kind]
    match service:
        case Service.CLEAN if found.get("digest"):
            return _paths(found)
        case Service.TTL:
            return _partitions(found, now=now)
        case Service.RECOVERY:
            return _left_out_rows(found)
        case Service.ROLLBACK:
            return _instants(task, found)
        case _:
            return None


def propose_list(task: OptimizeTask, listed: HudiList, *, now: datetime) -> RemovalPlan | None:
    """Show a list to people, with a task that acts on it once they approve.

    Inside the caller's transaction; None where a list of the kind waits for them already.
    """
    service, _ = TASKS[task.kind]
    kind = task_name(service, Step.EXECUTE)
    if OptimizeTask.objects.filter(hudi=task.hudi, kind=kind, is_open=True).exists():
        return None
    acting = OptimizeTask.objects.create(
        hudi=task.hudi,
        kind=kind,
        state=TaskState.TO_APPROVE,
        reason=task.reason,
        instants=listed.instants,
        partitions=listed.partitions,
        policy_versions=task.policy_versions,
        requested_by=task.requested_by,
        score=task.score,
        created_at=now,
    )
    plans_of_kind = RemovalPlan.objects.filter(hudi=task.hudi, kind=kind)
    plan = RemovalPlan(
        hudi=task.hudi,
        task=acting,
        kind=kind,
        digest=digest_of(acting, listed.found),
        n_items=listed.n_items,
        n_files=listed.n_files,
        n_bytes=listed.n_bytes,
        facts={
            "found": dict(listed.found),
            "sample": list(listed.items[:_SAMPLE]),
            "notes": _left_behind(plans_of_kind, listed),
        },
    )
    return removal_open(acting, plan, now=now)


def digest_of(acting: OptimizeTask, found: Mapping[str, Any]) -> str:
    """Return what is approved: the place, the service, and all that it may act on."""
    table = acting.subject
    meant = {
        "location": table.location,
        "kind": acting.kind,
        "instants": acting.instants,
        "partitions": acting.partitions,
        "found": found,
    }
    return sha256(json.dumps(meant, sort_keys=True).encode()).hexdigest()


def _left_behind(plans: QuerySet[RemovalPlan], listed: HudiList) -> list[str]:
    """Say of a pending clean with an approved list's files that the run of that list left it."""
    instant, digest = listed.found.get("instant"), listed.found.get("digest")
    if not instant or not digest:
        return []
    ended = plans.filter(state=RemovalState.FAILED, run__isnull=False).order_by("-ended_at")
    left = next((one for one in ended if one.facts["found"].get("digest") == digest), None)
    if left is None:
        return []
    return [
        f"The clean {instant} is pending in the timeline. It holds exactly what was approved with "
        f"list {left.short_id}, whose run ended before it was done. With an approval of this list "
        "it goes on. If it shall not, reject this list and have its .clean.requested removed; one "
        "that is begun can only go on."
    ]


def proposed_words(listed: HudiList, plan: RemovalPlan | None) -> str:
    """Say what came of drawing a list up."""
    if plan is None:
        return "A list of the same kind waits for people already; this one was not shown."
    return f"Listed for approval: {count_words(listed.n_items, 'item')}."


def removed_by(done: list[Any]) -> dict[str, int]:
    """Return what went, as the list's page tells it."""
    if not done:
        return {}
    return {
        "n_items": sum(
            int(one.get("n_items") or len(one.get("partitions", ())) or 1) for one in done
        ),
        "n_files": sum(int(one.get("n_files", 0)) for one in done),
        "n_bytes": sum(int(one.get("bytes", 0)) for one in done),
    }


def _paths(found: Mapping[str, Any]) -> HudiList | None:
    """Read the files of a clean, and the partitions whose whole directories it deletes."""
    n_files, n_whole = int(found.get("n_files", 0)), int(found.get("n_whole", 0))
    if not n_files + n_whole:
        return None
    items = [
        f"{one} (the whole directory, with all that is in it)" if one.endswith("/") else str(one)
        for one in found.get("files", ())
    ]
    pending = [str(found["instant"])] if found.get("instant") else None
    return HudiList(items, n_files + n_whole, n_files, 0, dict(found), pending)


def _left_out_rows(found: Mapping[str, Any]) -> HudiList | None:
    """Read the rows of log blocks that would come back."""
    if not found.get("n_rows") or not found.get("digest"):
        return None
    items = [
        f"{row['log_file']} of {row['group']}, instant {row['instant']}: "
        f"{count_words(int(row['rows']), 'row')}, {size_words(int(row['bytes']))}"
        for row in found.get("blocks", ())
    ]
    n_rows, n_logs, n_bytes = (int(found.get(key, 0)) for key in ("n_rows", "n_logs", "bytes"))
    return HudiList(items, n_rows, n_logs, n_bytes, dict(found))


def _partitions(found: Mapping[str, Any], *, now: datetime) -> HudiList | None:
    rows = list(found.get("partitions", ()))
    if not rows:
        return None
    names = [str(row["partition"]) for row in rows]
    return HudiList(
        [f"{row['partition']}, last written {row['written_at']}" for row in rows],
        len(rows),
        sum(int(row.get("n_files", 0)) for row in rows),
        sum(int(row.get("bytes", 0)) for row in rows),
        {"listed_at": now.isoformat(), **found},
        partitions=names,
    )


def _instants(task: OptimizeTask, found: Mapping[str, Any]) -> HudiList | None:
    wanted = None if task.instants is None else set(task.instants)
    rows = [
        row
        for row in found.get("instants", ())
        if row.get("action") in _ROLLED_BACK and (wanted is None or row["instant"] in wanted)
    ]
    if not rows:
        return None
    return HudiList(
        [f"{row['action']} {row['instant']}, last sign of life {row['event_at']}" for row in rows],
        len(rows),
        sum(int(row.get("n_files", 0)) for row in rows),
        0,
        {**found, "instants": rows},
        [str(row["instant"]) for row in rows],
    )
