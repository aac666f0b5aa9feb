"""Gives waiting tasks to runs, and records which are held, and by what.

The one dispatcher of tables of every format. A run takes its tasks when it starts, by a conditional
UPDATE under the lock of the table: however many portals there are, a task is in one run, and a
table has one task in a run. What is held says why, and is asked again at the next turn.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from optimizer.core.domain.tasks import TaskState
from optimizer.core.models import TABLE_FIELDS, OptimizeTask, table_models
from optimizer.core.services.maintainers import TableMaintainer
from optimizer.core.services.task_lifecycle import NOT_SENT, lock_free_table
from portal.reliability.claims import claim as is_claimed
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait

MOST_RANKED = 500


def waiting(maintainer: TableMaintainer, lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
    """Return what could be sent: in no run, by no list, of tables that are there and not paused.

    What waits for other writers to pause is left out until then.
    """
    field = TABLE_FIELDS[maintainer.table_format]
    there = {f"{field}__lake": lake, f"{field}__is_deleted": False, f"{field}__is_paused": False}
    rows = OptimizeTask.objects.filter(**there, state__in=NOT_SENT).exclude(not_before__gt=now)
    # What a look found is wide, and nothing is chosen by it.
    wide = (
        f"{field}__{column}"
        for table in table_models()
        if table.table_format == maintainer.table_format
        for column in table.not_shown
    )
    return maintainer.may_begin(rows).select_related(field).defer(*wide)


def choose(
    maintainer: TableMaintainer,
    lake: str,
    *,
    now: datetime,
    rows: QuerySet[OptimizeTask] | None = None,
) -> list[OptimizeTask]:
    """Choose what begins now, the first first; what is held is written with its reason.

    A table has one task in a run, and none beside one that another run has. Of `rows`, else of the
    format's candidates.
    """
    found = list(_ranked(maintainer.candidates(lake, now=now) if rows is None else rows))
    if not found:
        return []
    arranged = maintainer.arrange(lake, found, now=now)
    field = TABLE_FIELDS[maintainer.table_format]
    sent = OptimizeTask.objects.filter(**{f"{field}__lake": lake}, state=TaskState.SENT)
    under_way = set(sent.values_list(field, flat=True))
    for task, reason in arranged.held:
        _hold(task, reason)
    return _one_a_table(arranged.begin, beside=under_way)[
        : settings.LAKEWARDEN_OPTIMIZER_TASKS_A_RUN
    ]


def claim(maintainer: TableMaintainer, run: Run, *, now: datetime) -> int:
    """Let a run take its tasks; asked again it keeps those that it has."""
    mine = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    if mine.exists() or emergency_stop_wait(run.lake):
        return mine.count()
    return take(maintainer, run, choose(maintainer, run.lake, now=now), now=now)


def claim_more(
    maintainer: TableMaintainer, run: Run, *, rows: QuerySet[OptimizeTask], now: datetime
) -> int:
    """Let a run that stays take what waits now, beside what it has; returns how many."""
    n_sent = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT).count()
    n_free = settings.LAKEWARDEN_OPTIMIZER_TASKS_A_RUN - n_sent
    if n_free <= 0 or emergency_stop_wait(run.lake):
        return 0
    return take(maintainer, run, choose(maintainer, run.lake, now=now, rows=rows)[:n_free], now=now)


def take(
    maintainer: TableMaintainer, run: Run, tasks: Iterable[OptimizeTask], *, now: datetime
) -> int:
    """Let a run take tasks, each unless another has one of its table by now; returns how many."""
    return sum(_take(maintainer, run, task, now=now) for task in tasks)


@transaction.atomic
def _take(maintainer: TableMaintainer, run: Run, task: OptimizeTask, *, now: datetime) -> int:
    # The lock on the table's row is the one that removals take (`removals.services.claims`).
    if not lock_free_table(task):
        return 0
    is_paused = f"{TABLE_FIELDS[maintainer.table_format]}__is_paused"
    free = OptimizeTask.objects.filter(**{is_paused: False}, pk=task.pk, state__in=NOT_SENT)
    waits = maintainer.may_begin(free)
    return int(is_claimed(waits, state=TaskState.SENT, run=run.pk, started_at=now, waits_for=""))


def _ranked(rows: QuerySet[OptimizeTask]) -> Iterator[OptimizeTask]:
    """Yield the best and the oldest of what waits: nobody else can be first in the line."""
    lines = (
        rows.exclude(requested_by="").order_by("created_at", "pk"),
        rows.order_by("-score", "pk"),
        rows.order_by("created_at", "pk"),
    )
    # A task with its table is a wide row: only those that are taken are read whole.
    keys = (pk for line in lines for pk in line.values_list("pk", flat=True)[:MOST_RANKED])
    yield from rows.in_bulk(dict.fromkeys(keys)).values()


def _one_a_table(tasks: Iterable[OptimizeTask], *, beside: set[int | None]) -> list[OptimizeTask]:
    """Leave a table's other tasks for a later run: two at once would conflict with each other.

    `beside` are the tables of which one is under way already.
    """
    seen = set(beside)
    out = []
    for task in tasks:
        if task.subject.pk not in seen:
            seen.add(task.subject.pk)
            out.append(task)
    return out


def _hold(task: OptimizeTask, reason: str) -> None:
    if task.state != TaskState.HELD or task.waits_for != reason:
        rows = OptimizeTask.objects.filter(pk=task.pk, state__in=NOT_SENT)
        rows.update(state=TaskState.HELD, waits_for=reason)
