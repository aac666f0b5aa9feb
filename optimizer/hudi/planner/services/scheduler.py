"""Selects tasks of Hudi tables for the next run, and records which are held, and by what.

As for Iceberg tables: what is held says why and is asked again at the next turn, and a run takes
its tasks by a conditional UPDATE. What takes something away never goes this way, but by its list.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo

from django.db import transaction
from django.db.models import Q, QuerySet

from optimizer.core.domain.estimates import UNMEASURED
from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.speeds import speed_of
from optimizer.core.services.task_lifecycle import NOT_SENT, lock_free_table
from optimizer.hudi.inspect.domain.timeline import PLANNED
from optimizer.hudi.maintenance.domain.tasks import BY_APPROVAL, Service, Step, task_name
from optimizer.hudi.planner.services.planner import held_by_hour, look_of_table
from optimizer.hudi.tables.selectors.resident import watched_tables
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.policies.domain.hudi_policy import ResolvedHudi
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from optimizer.policies.services.budgets import BUDGET, seconds_spent
from portal.access.lakes import get_lake
from portal.lake.errors import RuleViolation
from portal.runs.models import Run
from portal.safety.selectors import red_button_wait

MOST_IN_A_RUN = 20
_MOST_RANKED = 500
BY_LIST = tuple(task_name(service, Step.EXECUTE) for service in sorted(BY_APPROVAL))
"""What goes by a list alone that people approved."""
ROLLBACK = task_name(Service.ROLLBACK, Step.EXECUTE)
_LIST_IT = "A writer began what it would roll back: that is listed and approved first."


def hudi_waiting(lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
    """Return what could be sent: in no run, by no list, of tables that are there and not paused."""
    listed = RemovalPlan.objects.filter(hudi__lake=lake).values("task")
    rows = OptimizeTask.objects.filter(
        hudi__lake=lake, hudi__is_gone=False, hudi__is_paused=False, state__in=NOT_SENT
    )
    rows = rows.exclude(kind__in=BY_LIST).exclude(not_before__gt=now).exclude(pk__in=listed)
    # What a look found is wide, and nothing is chosen by it.
    return rows.select_related("hudi").defer("hudi__findings", "hudi__verdicts")


def hudi_choose(lake: str, *, now: datetime, watched: bool = False) -> list[OptimizeTask]:
    """Choose what begins now, the first first; what is held is written with its reason.

    What people asked for comes first, then what holds others up, then what waits longest. A table
    has one task in a run, and none beside one that another run has. `watched` chooses of the
    tables that a service stays with, else of all others.
    """
    policies, zone = hudi_policies_of(lake), get_lake(lake).zone
    chosen = []
    spent = None
    theirs = Q(hudi__in=watched_tables(lake))
    for task in _candidates(hudi_waiting(lake, now=now).filter(theirs if watched else ~theirs)):
        found = policies.of(task.subject.db, task.subject.table)
        if spent is None and found.policy.budget_gb_hours is not None:
            spent = seconds_spent(lake, now=now)
        why = _held(task, found, zone, now=now) or _too_much(lake, task, found, spent or {})
        if why:
            _hold(task, why)
        else:
            chosen.append(task)
    sent = OptimizeTask.objects.filter(hudi__lake=lake, state=TaskState.SENT)
    return list(_one_a_table(chosen, beside=set(sent.values_list("hudi", flat=True))))


def hudi_claim(run: Run, *, now: datetime) -> int:
    """Let a run take its tasks; asked again it keeps those that it has."""
    mine = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    if mine.exists() or red_button_wait(run.lake):
        return mine.count()
    return _take(run, hudi_choose(run.lake, now=now), now=now)


def hudi_claim_more(run: Run, *, now: datetime) -> int:
    """Let the run that stays take what waits now, beside what it has; returns how many."""
    n_free = MOST_IN_A_RUN - OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT).count()
    if n_free <= 0 or red_button_wait(run.lake):
        return 0
    return _take(run, hudi_choose(run.lake, now=now, watched=True)[:n_free], now=now)


def needs_a_list(task: OptimizeTask) -> bool:
    """Whether a task takes away what people have to approve first, as the table was looked at."""
    if task.kind in BY_LIST:
        return True
    return task.kind == ROLLBACK and set(begun_by_services(task)) != set(task.instants or ("",))


def begun_by_services(task: OptimizeTask) -> list[str]:
    """Return those of a rollback's instants that a service began: undone, their plans stay.

    What the table's last look does not know is not among them.
    """
    try:
        look = look_of_table(task.hudi) if task.hudi else None
    except RuleViolation:
        look = None
    pending = {one.instant: one.action for one in look.instants if one.is_pending} if look else {}
    return [one for one in task.instants or () if pending.get(one) in PLANNED]


def _take(run: Run, tasks: Iterable[OptimizeTask], *, now: datetime) -> int:
    return sum(_taken(run, task, now=now) for task in tasks)


@transaction.atomic
def _taken(run: Run, task: OptimizeTask, *, now: datetime) -> int:
    """Let a run take a task, unless another has one of the table meanwhile."""
    if not lock_free_table(task):
        return 0
    free = OptimizeTask.objects.filter(
        pk=task.pk, state__in=NOT_SENT, hudi__is_paused=False, removals=None
    )
    return free.exclude(kind__in=BY_LIST).update(
        state=TaskState.SENT, run=run.pk, sent_at=now, waits_for=""
    )


def _candidates(rows: QuerySet[OptimizeTask]) -> Iterator[OptimizeTask]:
    """Yield the best and the oldest of what waits, in the order in which it goes."""
    lines = (
        rows.exclude(asked_by="").order_by("noted_at", "pk"),
        rows.order_by("-score", "pk"),
        rows.order_by("noted_at", "pk"),
    )
    keys = (pk for line in lines for pk in line.values_list("pk", flat=True)[:_MOST_RANKED])
    found = rows.in_bulk(dict.fromkeys(keys)).values()
    yield from sorted(found, key=lambda one: (not one.asked_by, -one.score, one.noted_at, one.pk))


def _held(task: OptimizeTask, found: ResolvedHudi, zone: tzinfo, *, now: datetime) -> str:
    if needs_a_list(task):
        return _LIST_IT
    return "" if task.asked_by else held_by_hour(found.policy, zone, now=now)


def _too_much(
    lake: str, task: OptimizeTask, found: ResolvedHudi, spent: Mapping[str, float]
) -> str:
    """Say that the day's budget is spent; what one task will take is not known before it ends."""
    whole = found.policy.budget_gb_hours
    if whole is None or task.asked_by:
        return ""
    gb = (speed_of(lake) or UNMEASURED).memory_gb
    used = spent.get(found.sources[BUDGET], 0.0) * gb / 3600
    if used < whole:
        return ""
    return (
        f"Spent in the last day: {used:.2f} of {whole:.2f} GB-hours of {found.sources[BUDGET]}, "
        "which tables of both formats share."
    )


def _one_a_table(tasks: Iterable[OptimizeTask], *, beside: set[int]) -> Iterator[OptimizeTask]:
    seen = set(beside)
    for task in tasks:
        if task.subject.pk not in seen and len(seen) < MOST_IN_A_RUN + len(beside):
            seen.add(task.subject.pk)
            yield task


def _hold(task: OptimizeTask, why: str) -> None:
    if task.state != TaskState.HELD or task.waits_for != why:
        OptimizeTask.objects.filter(pk=task.pk, state__in=NOT_SENT).update(
            state=TaskState.HELD, waits_for=why
        )
