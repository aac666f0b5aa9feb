"""Acts of people on tables and tasks of any format: ask for a task, pause, resume, cancel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from optimizer.core.domain.tasks import STOPPED, TaskState
from optimizer.core.models import TABLE_FIELDS, MaintainedTable, OptimizeTask
from optimizer.core.services.task_lifecycle import request_stop, take_back
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.audit.services import audit_record
from portal.lake.errors import NotVisible, StaleState
from portal.lake.reasons import check_reason

AT_THE_SHELL = "shell"


def asker(user: User | None) -> str:
    """Return under which name somebody's act is kept."""
    return AT_THE_SHELL if user is None else user.username


def parse_reason(reason: str) -> str:
    """Return why somebody asks, without which nothing is done.

    Raises:
        RuleViolation: `optimizer.reason`.
    """
    check_reason(reason, "optimizer.reason", "Enter a reason; others read it.")
    return reason.strip()


def asked_audit(
    action: str, row: MaintainedTable, *, by: str, now: datetime, **data: object
) -> None:
    """Write down what somebody asked of a table."""
    audit_record(
        action,
        actor=by,
        lake=row.lake,
        object_type="table",
        object_id=str(row),
        data={**row.identity, **data},
        now=now,
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for: a kind of task, and why, with fields of the task.

    `beside` are other kinds of which none may be in a run or wait for people meanwhile.
    """

    kind: str
    reason: str
    would: str
    """What it would do, where that waits for approval already: "What EXPIRE would remove"."""
    fields: Mapping[str, Any]
    if_new: Mapping[str, Any] = field(default_factory=dict)
    beside: Sequence[str] = ()
    audit: Mapping[str, object] = field(default_factory=dict)


def check_maintained(row: MaintainedTable) -> None:
    """Refuse what is asked of a table to which nothing is done.

    Raises:
        StaleState: `optimizer.gone`, `optimizer.paused`.
    """
    if row.is_deleted or row.is_paused:
        code = "gone" if row.is_deleted else "paused"
        raise StaleState(f"optimizer.{code}", f"{row} is {code}; nothing is done to it.")


def task_ask(
    row: MaintainedTable, asked: Asked, *, user: User | None, now: datetime
) -> OptimizeTask:
    """Queue a task that begins with the next run, whatever the blackout windows and the budget say.

    An open task of the kind is put first instead of a second one. Who asks was checked before.

    Raises:
        StaleState: `optimizer.running`, `optimizer.to_approve`, `optimizer.task`.
    """
    by = asker(user)
    try:
        with transaction.atomic():
            open_tasks = {
                task.kind: task for task in row.tasks.select_for_update().filter(is_open=True)
            }
            _refuse_second(row, asked, open_tasks)
            task = open_tasks.get(asked.kind)
            if task is None:
                mine = {TABLE_FIELDS[row.table_format]: row, **asked.if_new}
                task = OptimizeTask(**mine, kind=asked.kind, created_at=now)
            task.reason, task.requested_by = f"{by} asked for it: {asked.reason}", by
            task.state, task.waits_for, task.not_before = TaskState.WAITING, "", None
            for name, value in asked.fields.items():
                setattr(task, name, value)
            task.save()
            said = {"kind": asked.kind, **asked.audit, "reason": asked.reason}
            asked_audit("optimizer.asked", row, by=by, now=now, **said)
    except IntegrityError:
        raise StaleState(
            "optimizer.task", f"{asked.kind} of {row} was queued by somebody else just now."
        ) from None
    return task


def _refuse_second(
    row: MaintainedTable, asked: Asked, open_tasks: Mapping[str, OptimizeTask]
) -> None:
    """Refuse what a run has, and a list of which one waits for people already."""
    for kind in (asked.kind, *asked.beside):
        state = open_tasks[kind].state if kind in open_tasks else None
        if state == TaskState.TO_APPROVE:
            raise StaleState(
                "optimizer.to_approve",
                f"{asked.would} waits for approval already; see Removals.",
            )
        if state == TaskState.SENT:
            raise StaleState(
                "optimizer.running", f"{kind} of {row} is under way; see its run for progress."
            )


def table_pause(row: MaintainedTable, *, user: User | None, reason: str, now: datetime) -> None:
    """Have nothing begun on a table until it is resumed; a run under way goes on.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.paused`.
    """
    check_visible(row, user)
    reason, by = parse_reason(reason), asker(user)
    with transaction.atomic():
        free = type(row)._default_manager.filter(pk=row.pk, is_paused=False)
        if not free.update(is_paused=True, paused_by=by, paused_at=now, paused_reason=reason):
            raise StaleState("optimizer.paused", f"{row} is paused already.")
        asked_audit("optimizer.paused", row, by=by, now=now, reason=reason)
    row.refresh_from_db()


def table_resume(row: MaintainedTable, *, user: User | None, reason: str, now: datetime) -> None:
    """Let a paused table be optimized again, and have it looked at.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.not_paused`.
    """
    check_visible(row, user)
    reason, by = parse_reason(reason), asker(user)
    with transaction.atomic():
        paused = type(row)._default_manager.filter(pk=row.pk, is_paused=True)
        fields = {"is_paused": False, "paused_by": "", "paused_at": None, "paused_reason": ""}
        if not paused.update(**fields, inspect_due_at=None if row.is_deleted else now):
            raise StaleState("optimizer.not_paused", f"{row} is not paused.")
        asked_audit("optimizer.resumed", row, by=by, now=now, reason=reason)
    row.refresh_from_db()


def task_cancel(task: OptimizeTask, *, user: User | None, reason: str, now: datetime) -> None:
    """Take a waiting task out of the queue, or have the run that it is in leave it.

    What the run has committed of it stays. The row of a task in a run keeps its state until the
    run says what came of it.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.stopping`, `optimizer.to_approve`, `optimizer.ended`,
            `optimizer.task`.
    """
    row = task.subject
    check_visible(row, user)
    reason, by = parse_reason(reason), asker(user)
    with transaction.atomic():
        is_back = take_back(task, reason=f"{by}: {reason}", code=STOPPED, now=now)
        if not is_back and not request_stop(task, reason=f"{by}: {reason}"):
            raise _not_cancelled(task)
        was = "waiting" if is_back else "in a run"
        asked_audit(
            "optimizer.cancelled", row, by=by, now=now, kind=task.kind, was=was, reason=reason
        )
    task.refresh_from_db()


def _not_cancelled(task: OptimizeTask) -> StaleState:
    """Say why there was nothing to cancel."""
    task.refresh_from_db()
    if task.state == TaskState.SENT:
        return StaleState("optimizer.stopping", f"A stop was requested already, by {task.outcome}")
    if task.state == TaskState.TO_APPROVE:
        return StaleState(
            "optimizer.to_approve",
            "What it would remove waits for approval; reject or withdraw it there.",
        )
    if task.is_open:
        return StaleState("optimizer.task", "Its run gave it back just now; cancel it once more.")
    return StaleState("optimizer.ended", f"The task is already {task.state.lower()}.")


def check_visible(row: MaintainedTable, user: User | None) -> None:
    """Refuse who does not see a table: whoever sees it answers for it."""
    rows = type(row)._default_manager
    if user is not None and not rows.filter(visible_to(user), pk=row.pk).exists():
        raise NotVisible("optimizer.table", "There is no such table, or it is not yours.")
