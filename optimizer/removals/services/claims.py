"""Gives approved lists to the runs that remove, and registers the approval that they need.

The lists are created by the runs that optimize. What was approved goes in runs of their own: only
in the lake's working hours, after the cooling-off, and only while approval and policy still stand.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from optimizer.core.domain.tasks import TaskState
from optimizer.core.models import TABLE_FIELDS
from optimizer.core.services.maintainers import TableMaintainer
from optimizer.core.services.task_lifecycle import lock_free_table
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.services.removals import (
    APPROVAL_KIND,
    REMOVALS,
    end_task,
    removal_move,
)
from portal.approvals.services import approval_check, approval_use
from portal.lake.errors import StaleState
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait


def lists_ready(maintainer: TableMaintainer, lake: str, *, now: datetime) -> QuerySet[RemovalPlan]:
    """Return the approved lists whose cooling-off is over, of tables on which nothing else runs."""
    of = TABLE_FIELDS[maintainer.table_format]
    there = {f"{of}__lake": lake, f"{of}__is_deleted": False, f"{of}__is_paused": False}
    sent = OptimizeTask.objects.filter(**{f"{of}__lake": lake}, state=TaskState.SENT)
    approved = RemovalPlan.objects.filter(
        **there, state=RemovalState.APPROVED, approval__cool_until__lte=now
    )
    return approved.exclude(**{f"{of}__in": sent.values(of)})


def lists_claim(maintainer: TableMaintainer, run: Run, *, now: datetime) -> int:
    """Let a run take the oldest lists, one a table; asked again it keeps those that it has."""
    mine = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    if mine.exists() or emergency_stop_wait(run.lake):
        return mine.count()
    tables: set[int] = set()
    is_allowed = maintainer.allows_removal(run.lake)
    ready = lists_ready(maintainer, run.lake, now=now).order_by("created_at")
    for plan in ready[: settings.LAKEWARDEN_OPTIMIZER_TASKS_A_RUN]:
        key, may = plan.subject.pk, is_allowed(plan)
        if key not in tables and removal_take(plan, run, is_allowed=may, now=now):
            tables.add(key)
    return len(tables)


def register_removal_approval() -> None:
    """Tell the platform of the approval behind every list."""
    REMOVALS.register()


def removal_take(plan: RemovalPlan, run: Run, *, is_allowed: bool, now: datetime) -> bool:
    """Take one list into a run; one that may not be acted on any more ends here, with why.

    `is_allowed` is the policy's word; what a person asked for goes without it.
    """
    task = plan.task
    try:
        if not task.requested_by and not is_allowed:
            raise StaleState(
                "removal.policy",
                f"The policy of {plan.subject} does not allow {plan.kind} any more.",
            )
        with transaction.atomic():
            if not lock_free_table(task):
                return False  # it keeps its approval and goes later
            approval = approval_check(
                APPROVAL_KIND, object_id=str(plan.pk), digest=plan.digest, now=now
            )
            approval_use(approval.pk, run_id=str(run.pk), now=now)
            removal_move(plan, RemovalState.RUNNING, now=now, run=run.pk)
            waits = OptimizeTask.objects.filter(pk=task.pk, state=TaskState.TO_APPROVE)
            if not waits.update(state=TaskState.SENT, run=run.pk, started_at=now, waits_for=""):
                raise StaleState("removal.state", "Its task has left the queue.")
    except StaleState as error:
        _refuse(plan, error, now=now)
        return False
    return True


def _refuse(plan: RemovalPlan, error: StaleState, *, now: datetime) -> None:
    with transaction.atomic():
        fresh = RemovalPlan.objects.select_for_update().get(pk=plan.pk)
        if fresh.state == RemovalState.APPROVED:
            removal_move(fresh, RemovalState.FAILED, now=now, reason=error.message)
            end_task(fresh, code=error.code, reason=error.message, now=now)
