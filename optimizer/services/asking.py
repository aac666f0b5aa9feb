"""What may people ask of the optimizer: run now, show a plan, cancel, pause a table and resume it?

Owners of a table, administrators of its database and keepers of the lake may. All of it is audited;
`user` None is whoever stands at the shell.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from optimizer.domain.plans import Plan
from optimizer.domain.tasks import DESTRUCTIVE, REWRITES, STOPPED, TaskKind, TaskState
from optimizer.models import HudiTable, IcebergTable, OptimizeTask
from optimizer.selectors.policies import policies_of
from optimizer.services.queueing import asked_of, plan_of
from optimizer.services.speeds import speed_of
from optimizer.services.task_ends import take_back, tell_to_stop
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.audit.services import audit_record
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_reason

AT_THE_SHELL = "shell"


def dry_run(row: IcebergTable, *, user: User | None, now: datetime) -> Plan:
    """Say what would be done to a table now, at which cost, and why the rest is not.

    Raises:
        NotVisible: `optimizer.table`; StaleState: `optimizer.not_looked_at`.
    """
    _check(row, user)
    if row.looked_at is None:
        raise StaleState(
            "optimizer.not_looked_at",
            f"The files of {row} have not been looked at yet, so nothing can be planned. A look is "
            "due; ask again in some minutes.",
        )
    found = policies_of(row.lake).of(row.db, row.table)
    return plan_of(row, found, speed=speed_of(row.lake), now=now)


def optimize_now(
    row: IcebergTable,
    kind: TaskKind,
    *,
    user: User | None,
    reason: str,
    partitions: Sequence[str] | None = None,
    now: datetime,
) -> OptimizeTask:
    """Queue a task that begins with the next run, whatever the quiet hours and the budget say.

    An open task of the kind is put first instead of a second one.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.gone`, `optimizer.paused`, `optimizer.running`,
        `optimizer.to_approve`.
    """
    _check(row, user)
    why = said_reason(reason)
    if row.is_gone or row.is_paused:
        code = "gone" if row.is_gone else "paused"
        raise StaleState(f"optimizer.{code}", f"{row} is {code}; nothing is done to it.")
    by = asker(user)
    found = policies_of(row.lake).of(row.db, row.table)
    try:
        with transaction.atomic():
            task = row.tasks.select_for_update().filter(kind=kind, is_open=True).first()
            if task is not None and task.state == TaskState.SENT:
                raise StaleState(
                    "optimizer.running", f"{kind} of {row} is under way; see its run for progress."
                )
            if task is not None and task.state == TaskState.TO_APPROVE:
                raise StaleState(
                    "optimizer.to_approve",
                    f"What {kind} of {row} would remove waits for approval already; see Removals.",
                )
            if task is None:
                task = OptimizeTask(table=row, kind=kind, noted_at=now, snapshot_id=row.snapshot_id)
            task.reason, task.asked_by = f"{by} asked for it: {why}", by
            task.state, task.waits_for, task.not_before = TaskState.WAITING, "", None
            task.partitions = None if partitions is None else list(partitions)
            for name, value in asked_of(found, kind).items():
                setattr(task, name, value)
            task.save()
            asked_audit("optimizer.asked", row, by=by, now=now, kind=kind.value, reason=why)
    except IntegrityError:
        raise StaleState(
            "optimizer.task", f"{kind} of {row} was queued by somebody else just now."
        ) from None
    return task


def removal_ask(
    row: IcebergTable, kind: str, *, user: User | None, reason: str, now: datetime
) -> OptimizeTask:
    """Have a list drawn up of what a removal would take; nothing goes before others approve it.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.removal_kind`, and as
        `optimize_now`.
    """
    _check(row, user)
    if kind not in DESTRUCTIVE:
        raise RuleViolation(
            "optimizer.removal_kind", "Say EXPIRE for old snapshots, or ORPHANS for orphan files."
        )
    return optimize_now(row, TaskKind(kind), user=user, reason=reason, now=now)


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
    _check(row, user)
    why, by = said_reason(reason), asker(user)
    with transaction.atomic():
        is_back = take_back(task, why=f"{by}: {why}", code=STOPPED, now=now)
        if not is_back and not tell_to_stop(task, why=f"{by}: {why}"):
            raise _not_cancelled(task)
        was = "waiting" if is_back else "in a run"
        asked_audit("optimizer.cancelled", row, by=by, now=now, kind=task.kind, was=was, reason=why)
    task.refresh_from_db()


def _not_cancelled(task: OptimizeTask) -> StaleState:
    """Say why there was nothing to cancel."""
    task.refresh_from_db()
    if task.state == TaskState.SENT:
        return StaleState("optimizer.stopping", f"It is told to stop already, by {task.outcome}")
    if task.state == TaskState.TO_APPROVE:
        return StaleState(
            "optimizer.to_approve",
            "What it would remove waits for approval; reject or withdraw it there.",
        )
    if task.is_open:
        return StaleState("optimizer.task", "Its run gave it back just now; cancel it once more.")
    return StaleState("optimizer.ended", f"The task is already {task.state.lower()}.")


def table_pause(
    row: IcebergTable | HudiTable, *, user: User | None, reason: str, now: datetime
) -> None:
    """Have nothing begun on a table until it is resumed; a run under way goes on.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.paused`.
    """
    _check(row, user)
    why, by = said_reason(reason), asker(user)
    with transaction.atomic():
        free = type(row)._default_manager.filter(pk=row.pk, is_paused=False)
        if not free.update(is_paused=True, paused_by=by, paused_at=now, paused_why=why):
            raise StaleState("optimizer.paused", f"{row} is paused already.")
        asked_audit("optimizer.paused", row, by=by, now=now, reason=why)
    row.refresh_from_db()


def table_resume(
    row: IcebergTable | HudiTable, *, user: User | None, reason: str, now: datetime
) -> None:
    """Let a paused table be optimized again, and have it looked at.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.not_paused`.
    """
    _check(row, user)
    why, by = said_reason(reason), asker(user)
    with transaction.atomic():
        paused = type(row)._default_manager.filter(pk=row.pk, is_paused=True)
        fields = {"is_paused": False, "paused_by": "", "paused_at": None, "paused_why": ""}
        if not paused.update(**fields, look_due_at=None if row.is_gone else now):
            raise StaleState("optimizer.not_paused", f"{row} is not paused.")
        asked_audit("optimizer.resumed", row, by=by, now=now, reason=why)
    row.refresh_from_db()


def kind_for_now(row: IcebergTable) -> TaskKind:
    """Give what "run now" means where nobody names a kind: the open rewrite, else a bin-pack."""
    kinds = row.tasks.filter(is_open=True, kind__in=REWRITES).order_by("-score", "pk")
    kind = kinds.values_list("kind", flat=True).first()
    return TaskKind(kind) if kind else TaskKind.MINOR


def _check(row: IcebergTable | HudiTable, user: User | None) -> None:
    """Refuse who does not see a table: whoever sees it answers for it."""
    rows = type(row)._default_manager
    if user is not None and not rows.filter(visible_to(user), pk=row.pk).exists():
        raise NotVisible("optimizer.table", "There is no such table, or it is not yours.")


def said_reason(reason: str) -> str:
    """Give why somebody asks, without which nothing is done.

    Raises:
        RuleViolation: `optimizer.reason`.
    """
    check_reason(reason, "optimizer.reason", "Say why, in a few words: it is kept for others.")
    return reason.strip()


def asker(user: User | None) -> str:
    """Give under which name somebody's act is kept."""
    return AT_THE_SHELL if user is None else user.username


def asked_audit(
    action: str, row: IcebergTable | HudiTable, *, by: str, now: datetime, **data: object
) -> None:
    """Write down what somebody asked of a table."""
    which = {"uuid": row.uuid} if isinstance(row, IcebergTable) else {"location": row.location}
    audit_record(
        action,
        actor=by,
        lake=row.lake,
        object_type="table",
        object_id=str(row),
        data={**which, **data},
        now=now,
    )
