"""Reads what the portal did with a Hudi table lately, and what it still does."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Max

from optimizer.core.domain.tasks import TaskState
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.timeline import pending
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, TASKS, Service, Step
from optimizer.hudi.planner.domain.needs import Reader, RecentActivity
from optimizer.models import HudiTable, OptimizeTask
from optimizer.removals.domain.states import REFUSED
from portal.catalog.services.change_readers import change_readers_of
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName

LOOK_BACK = timedelta(days=8)
"""Further back nothing is asked: what people refused holds for a week."""
WRITER_LEFT_ALONE = timedelta(minutes=5)
_IN_VAIN = (TaskState.NOTHING, TaskState.FAILED, TaskState.ABANDONED, TaskState.PARTIAL)
_NOT_ALL = (TaskState.FAILED, TaskState.PARTIAL)


def recent_activity_of(row: HudiTable, look: HudiInspection, *, now: datetime) -> RecentActivity:
    """Gather it from the table's tasks.

    A service is busy while a run has a task of it, or people one of its lists; what only waits is
    decided on again. A plan that was written is no attempt in vain: the look shows it.
    """
    running: set[str] = set()
    busy: set[Service] = set()
    begun = (TaskState.SENT, TaskState.TO_APPROVE)
    for kind, state, instants in row.tasks.filter(is_open=True, state__in=begun).values_list(
        "kind", "state", "instants"
    ):
        service, step = TASKS[kind]
        busy.add(service)
        if state == TaskState.SENT and step is Step.EXECUTE:
            running |= set(_all_of(look, service) if instants is None else instants)
    ended = row.tasks.filter(ended_at__gte=now - LOOK_BACK).order_by("ended_at", "pk")
    failed: dict[str, datetime] = {}
    tried: dict[tuple[Service, Step], datetime] = {}
    refused: dict[Service, datetime] = {}
    for task in ended.only("kind", "state", "started_at", "ended_at", "outcome_code", "instants",
                           "commits"):  # fmt: skip
        service, step = TASKS[task.kind]
        if task.ended_at is None:
            continue
        if task.outcome_code in REFUSED:
            refused[service] = task.ended_at
        if task.started_at is None:
            continue
        if step is Step.EXECUTE and task.state in _NOT_ALL:
            failed |= dict.fromkeys(_not_done(task), task.ended_at)
        if step is Step.SCHEDULE and (service is Service.TTL or task.state in _IN_VAIN):
            tried[service, step] = task.started_at
    return RecentActivity(
        frozenset(running), frozenset(busy), failed, tried, refused, _readers_of(row)
    )


def _readers_of(row: HudiTable) -> tuple[Reader, ...]:
    """Return who reads the table's changes, so that a clean keeps what they need."""
    try:
        table = TableName(LakeId(row.lake), row.db, row.table)
    except RuleViolation:
        return ()  # such a name is shown and not acted on: nothing of ours reads the table
    return tuple(Reader(one.name, one.since, one.is_capped) for one in change_readers_of(table))


def last_end(row: HudiTable) -> datetime | None:
    """When a run last ended a task of the table: a look from before knows nothing of it."""
    found = row.tasks.filter(ended_at__isnull=False, started_at__isnull=False)
    at: datetime | None = found.aggregate(at=Max("ended_at"))["at"]
    return at


def given_way(row: HudiTable, *, now: datetime) -> dict[str, datetime]:
    """Return by kind until when a step waits that was given up for somebody who was at work."""
    since = now - WRITER_LEFT_ALONE
    lost = row.tasks.filter(state=TaskState.ABANDONED, started_at__isnull=False, ended_at__gt=since)
    found = lost.order_by().values_list("kind").annotate(Max("ended_at"))
    return {kind: at + WRITER_LEFT_ALONE for kind, at in found}


def _all_of(look: HudiInspection, service: Service) -> Iterable[str]:
    return (one.instant for one in pending(look, ACTIONS.get(service, ())))


def _not_done(task: OptimizeTask) -> set[str]:
    done = {str(one.get("instant")) for one in task.commits}
    return set(task.instants or ()) - done
