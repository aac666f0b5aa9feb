"""Selects waiting tasks for the next run, and records which are held, by whom and until when.

A run takes its tasks when it starts, by a conditional UPDATE: however many portals there are, a
task is in one run. What is held says why, and is asked again at the next turn.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from django.db import transaction
from django.db.models import QuerySet

from optimizer.core.domain.estimates import UNMEASURED, Estimate
from optimizer.core.domain.scoring import Candidate, Chosen, choose, rank
from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.speeds import speed_of
from optimizer.core.services.task_lifecycle import lock_free_table
from optimizer.iceberg.planner.domain.deciding import hold_reason
from optimizer.models import OptimizeTask
from optimizer.policies.selectors.policies import TablePolicy, policies_of
from optimizer.policies.services.budgets import seconds_spent
from portal.access.lakes import get_lake
from portal.runs.models import Run
from portal.safety.selectors import red_button_wait

MOST_IN_A_RUN = 20
_MOST_RANKED = 500


def waiting(lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
    """Return what could be sent: in no run, of tables that are there and not paused.

    What waits for other writers to pause is left out until then.
    """
    rows = OptimizeTask.objects.filter(
        table__lake=lake,
        table__is_gone=False,
        table__is_paused=False,
        state__in=(TaskState.WAITING, TaskState.HELD),
    ).exclude(not_before__gt=now)
    return rows.select_related("table")


def choose_tasks(lake: str, *, now: datetime) -> list[OptimizeTask]:
    """Choose what begins now, the first first; what is held is written with its reason."""
    policies, zone = policies_of(lake), get_lake(lake).zone
    rows = {str(task.pk): task for task in _candidates(lake, now=now)}
    free: defaultdict[str, list[Candidate]] = defaultdict(list)
    found: dict[str, TablePolicy] = {}
    for key, task in rows.items():
        found[key] = policies.of(task.iceberg.db, task.iceberg.table)
        why = _held_by_hour(task, found[key], zone, now=now)
        if why:
            _hold(task, why)
        else:
            free[found[key].sources["budget_gb_hours"]].append(_candidate(task))
    chosen: list[OptimizeTask] = []
    for one in _within_budgets(lake, free, found, now=now):
        task = rows[one.candidate.key]
        if one.is_begun or task.asked_by:
            chosen.append(task)
        else:
            _hold(task, one.reason)
    first = {one.key: n for n, one in enumerate(rank(map(_candidate, chosen), speed=UNMEASURED))}
    asked_first = sorted(chosen, key=lambda task: (not task.asked_by, first[str(task.pk)]))
    sent = OptimizeTask.objects.filter(table__lake=lake, state=TaskState.SENT)
    under_way = set(sent.values_list("table", flat=True))
    return _one_a_table(asked_first, beside=under_way)[:MOST_IN_A_RUN]


def claim(run: Run, *, now: datetime) -> int:
    """Let a run take its tasks; asked again it keeps those that it has."""
    mine = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    if mine.exists() or red_button_wait(run.lake):
        return mine.count()
    return sum(_take(run, task, now=now) for task in choose_tasks(run.lake, now=now))


@transaction.atomic
def _take(run: Run, task: OptimizeTask, *, now: datetime) -> int:
    """Let a run take a task, unless another run has one of the same table by now.

    The lock on the table's row is the one that removals take (`removal_kinds.removal_take`).
    """
    if not lock_free_table(task):
        return 0
    free = OptimizeTask.objects.filter(
        pk=task.pk, state__in=(TaskState.WAITING, TaskState.HELD), table__is_paused=False
    )
    return free.update(state=TaskState.SENT, run=run.pk, sent_at=now, waits_for="")


def _candidates(lake: str, *, now: datetime) -> Iterator[OptimizeTask]:
    """Yield the best and the oldest of what waits: nobody else can be first in the line."""
    rows = waiting(lake, now=now)
    lines = (
        rows.order_by("-score", "pk"),
        rows.order_by("noted_at", "pk"),
        rows.exclude(asked_by="").order_by("noted_at", "pk"),
    )
    # A task with its table is a wide row: only those that are taken are read whole.
    keys = (pk for line in lines for pk in line.values_list("pk", flat=True)[:_MOST_RANKED])
    found = rows.in_bulk(dict.fromkeys(keys))
    yield from found.values()


def _one_a_table(tasks: Iterable[OptimizeTask], *, beside: set[int]) -> list[OptimizeTask]:
    """Leave a table's other tasks for a later run: two at once would conflict with each other.

    `beside` are the tables of which one is under way already.
    """
    seen = set(beside)
    out = []
    for task in tasks:
        if task.iceberg.pk not in seen:
            seen.add(task.iceberg.pk)
            out.append(task)
    return out


def _held_by_hour(task: OptimizeTask, found: TablePolicy, zone: tzinfo, *, now: datetime) -> str:
    if task.asked_by:
        return ""
    if not found.policy.is_on:
        return "The optimizer is switched off for this table."
    held = hold_reason(found.policy, zone=zone, now=now)
    return held[0] if held else ""


def _hold(task: OptimizeTask, why: str) -> None:
    if task.state != TaskState.HELD or task.waits_for != why:
        OptimizeTask.objects.filter(
            pk=task.pk, state__in=(TaskState.WAITING, TaskState.HELD)
        ).update(state=TaskState.HELD, waits_for=why)


def _candidate(task: OptimizeTask) -> Candidate:
    return Candidate(
        str(task.pk),
        Estimate.from_dict(task.estimate),
        task.noted_at,
        is_cold=task.is_cold,
        risk=task.risk,
    )


def _within_budgets(
    lake: str,
    free: Mapping[str, Sequence[Candidate]],
    found: Mapping[str, TablePolicy],
    *,
    now: datetime,
) -> Iterator[Chosen]:
    """Let those begin that fit into what the scope that sets their budget has left today."""
    if not free:
        return
    speed = speed_of(lake) or UNMEASURED
    wholes = {scope: found[some[0].key].policy.budget_gb_hours for scope, some in free.items()}
    has_budget = any(whole is not None for whole in wholes.values())
    spent = seconds_spent(lake, now=now) if has_budget else {}
    for scope, candidates in free.items():
        whole = wholes[scope]
        left = None
        if whole is not None:
            left = whole - spent.get(scope, 0.0) * speed.memory_gb / 3600
        line = rank(candidates, speed=speed)
        yield from choose(line, budget=left, whole_budget=whole, speed=speed, now=now)
