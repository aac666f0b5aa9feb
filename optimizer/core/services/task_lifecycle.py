"""Takes tasks off the queue that were not done, or returns them to it.

One that a run has is told to stop: its row says so at once, the run's next beat tells the job, and
the job leaves it before its next group of files. What is committed by then stays.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from optimizer.core.domain.tasks import STOPPED, TaskState
from optimizer.core.models import TABLE_FIELDS, MaintainedTable, OptimizeTask
from portal.runs.models import Run

MOST_TRIES = 3

NOT_SENT = (TaskState.WAITING, TaskState.HELD)


def abandon_open(tables: Iterable[MaintainedTable], *, reason: str, now: datetime) -> int:
    """Give up what waits for tables; what is in a run ends with the run."""
    keys: defaultdict[str, list[int]] = defaultdict(list)
    for one in tables:
        keys[TABLE_FIELDS[one.table_format]].append(one.pk)
    if not keys:
        return 0
    theirs = reduce(or_, (Q(**{f"{field}__in": some}) for field, some in keys.items()))
    return OptimizeTask.objects.filter(theirs, state__in=NOT_SENT).update(
        state=TaskState.ABANDONED,
        is_open=None,
        ended_at=now,
        outcome_code="table.gone",
        outcome=reason,
        waits_for="",
    )


def abandon(task: OptimizeTask, *, reason: str, now: datetime) -> bool:
    """Let a task end that is in no run and whose need is gone; False where it was sent meanwhile.

    It is nobody's cancelling: what made it needed was done by others, or ended.
    """
    waiting = OptimizeTask.objects.filter(pk=task.pk, state__in=NOT_SENT)
    return bool(
        waiting.update(
            state=TaskState.ABANDONED,
            is_open=None,
            ended_at=now,
            outcome_code="task.not_needed",
            outcome=reason,
            waits_for="",
        )
    )


def take_back(
    task: OptimizeTask, *, reason: str, code: str = "task.not_needed", now: datetime
) -> bool:
    """Cancel a task that is in no run; False where it was sent meanwhile."""
    waiting = OptimizeTask.objects.filter(pk=task.pk, state__in=NOT_SENT)
    return bool(
        waiting.update(
            state=TaskState.CANCELLED,
            is_open=None,
            ended_at=now,
            outcome_code=code,
            outcome=reason,
            waits_for="",
        )
    )


def request_stop(task: OptimizeTask, *, reason: str) -> bool:
    """Have a run leave a task; False where it is in none, or was told already."""
    running = OptimizeTask.objects.filter(pk=task.pk, state=TaskState.SENT)
    return bool(running.exclude(outcome_code=STOPPED).update(outcome_code=STOPPED, outcome=reason))


def stop_requests(run: Run) -> list[int]:
    """Return the tasks of a run that people cancelled and of which nothing was heard yet."""
    rows = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT, outcome_code=STOPPED)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def is_cancelled(task: OptimizeTask) -> bool:
    """Whether a person cancelled the task while it ran: nobody is asked about its list then."""
    mine = OptimizeTask.objects.select_for_update().filter(pk=task.pk)
    return mine.filter(outcome_code=STOPPED).exists()


def is_stopped(run: Run, manifest: Mapping[str, Any]) -> bool:
    """Whether the run was stopped on purpose, which is no task's fault."""
    said = manifest.get("result", {}).get("stopped")
    return bool(run.cancel_requested_by or said or manifest.get("outcome") == "cancelled")


def lock_table(task: OptimizeTask) -> MaintainedTable:
    """Lock a task's table until the transaction ends.

    Whoever locks a table and tasks of it locks the table first.
    """
    table = task.subject
    type(table)._default_manager.select_for_update().values_list("pk").filter(pk=table.pk).first()
    return table


def lock_free_table(task: OptimizeTask) -> bool:
    """Lock a task's table until the transaction ends; False where a run has a task of it."""
    return not lock_table(task).tasks.filter(state=TaskState.SENT).exists()


def lock_to_decide(row: MaintainedTable) -> bool:
    """Lock a table until the transaction ends; False where somebody has decided on it meanwhile."""
    tables = type(row)._default_manager.select_for_update()
    return tables.filter(pk=row.pk, decided_at=row.decided_at).exists()
