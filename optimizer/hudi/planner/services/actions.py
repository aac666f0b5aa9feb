"""Requests on a Hudi table: a service step now, a pause, and a dry run.

Owners of a table, administrators of its database and keepers of the lake may; the rules that keep
writer and services apart hold for them too. All of it is audited.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.actions import (
    asked_audit,
    asker,
    said_reason,
    table_pause,
    table_resume,
)
from optimizer.hudi.inspect.domain.facts import HudiLook
from optimizer.hudi.maintenance.domain.requests import wish_of
from optimizer.hudi.maintenance.domain.tasks import HudiTask, Service, Step, task_name
from optimizer.hudi.planner.domain.deciding import HudiDecision, precedence
from optimizer.hudi.planner.services.planner import decision_of, listed_first, look_of_table
from optimizer.hudi.planner.services.recent_runs import lately_of
from optimizer.hudi.planner.services.speeds import HudiSpeeds
from optimizer.models import HudiTable, OptimizeTask
from optimizer.policies.domain.hudi_policy import HudiPolicy
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible, StaleState


class Asking(TypedDict):
    """Who asks (None: whoever stands at the shell), why, and when."""

    user: User | None
    reason: str
    now: datetime


def service_ask(
    table_id: int,
    *,
    service: Service,
    step: Step,
    instants: Sequence[str] = (),
    **asking: Unpack[Asking],
) -> OptimizeTask:
    """Queue a step of a service for the next run, whatever quiet hours and budget say.

    Without `instants` it takes all that are pending, oldest first. What has to be approved is
    listed first, and the task that comes back is the one that draws the list up. An open task of
    the kind is put first instead of a second one.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`, `hudi.` and the rule that
        forbids it; StaleState: `optimizer.gone`, `optimizer.paused`, `hudi.not_looked_at`,
        `hudi.not-pending`, `hudi.nothing`, `optimizer.running`, `optimizer.to_approve`.
    """
    user, now = asking["user"], asking["now"]
    row = _row(table_id, user)
    why = said_reason(asking["reason"])
    if row.is_gone or row.is_paused:
        code = "gone" if row.is_gone else "paused"
        raise StaleState(f"optimizer.{code}", f"{row} is {code}; nothing is done to it.")
    look, policies = _look(row), hudi_policies_of(row.lake)
    found = policies.of(row.db, row.table)
    lately = lately_of(row, look, now=now)
    wish = HudiTask(service, step, why, tuple(instants))
    allowed = wish_of(look, found.policy, wish, lately=lately, now=now)
    one = listed_first(allowed)
    estimate = HudiSpeeds(row.lake).estimate_plans(look, one.name, one.instants)
    return _queue(row, one, policies.versions(found), estimate=estimate, user=user, now=now)


def hudi_pause(table_id: int, *, user: User | None, reason: str, now: datetime) -> HudiTable:
    """Have nothing begun on a table until it is resumed; a run under way goes on.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.paused`.
    """
    row = _row(table_id, user)
    table_pause(row, user=user, reason=reason, now=now)
    return row


def hudi_resume(table_id: int, *, user: User | None, reason: str, now: datetime) -> HudiTable:
    """Let a paused table be served again, and have it looked at.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.not_paused`.
    """
    row = _row(table_id, user)
    table_resume(row, user=user, reason=reason, now=now)
    return row


def hudi_explain(table_id: int, user: User | None, now: datetime) -> HudiDecision:
    """Say what would be done to a table now, and of everything else why not; begins nothing.

    Raises:
        NotVisible: `optimizer.hudi`; StaleState: `hudi.not_looked_at`.
    """
    row = _row(table_id, user)
    policy: HudiPolicy = hudi_policies_of(row.lake).of(row.db, row.table).policy
    return decision_of(row, _look(row), policy, now)


def _queue(
    row: HudiTable,
    one: HudiTask,
    versions: Sequence[int],
    *,
    estimate: Mapping[str, float],
    user: User | None,
    now: datetime,
) -> OptimizeTask:
    by = asker(user)
    try:
        with transaction.atomic():
            open_tasks = {
                task.kind: task for task in row.tasks.select_for_update().filter(is_open=True)
            }
            _refuse_second(row, one, open_tasks)
            task = open_tasks.get(one.name)
            if task is None:
                task = OptimizeTask(hudi=row, kind=one.name, noted_at=now)
            task.reason, task.asked_by = f"{by} asked for it: {one.reason}", by
            task.state, task.waits_for, task.not_before = TaskState.WAITING, "", None
            task.instants = list(one.instants) or None
            task.score = precedence(one.service, one.step)
            task.policy_versions = list(versions)
            task.estimate = dict(estimate)
            task.save()
            said = {"kind": one.name, "instants": list(one.instants), "reason": one.reason}
            asked_audit("optimizer.asked", row, by=by, now=now, **said)
    except IntegrityError:
        raise StaleState(
            "optimizer.task", f"{one.name} of {row} was queued by somebody else just now."
        ) from None
    return task


def _refuse_second(row: HudiTable, one: HudiTask, open_tasks: Mapping[str, OptimizeTask]) -> None:
    """Refuse what a run has, and a list of which one waits for people already."""
    for name in (one.name, task_name(one.service, Step.EXECUTE)):
        task = open_tasks.get(name)
        if task is None:
            continue
        if task.state == TaskState.TO_APPROVE:
            raise StaleState(
                "optimizer.to_approve",
                f"What {one.service} of {row} would take away waits for approval already; see "
                "Removals.",
            )
        if task.state == TaskState.SENT:
            raise StaleState(
                "optimizer.running", f"{name} of {row} is under way; see its run for progress."
            )


def _row(table_id: int, user: User | None) -> HudiTable:
    rows = HudiTable.objects.all() if user is None else HudiTable.objects.filter(visible_to(user))
    found = rows.filter(pk=table_id).first()
    if found is None:
        raise NotVisible("optimizer.hudi", "There is no such Hudi table for you.", table=table_id)
    return found


def _look(row: HudiTable) -> HudiLook:
    look = look_of_table(row)
    if look is None:
        raise StaleState(
            "hudi.not_looked_at",
            f"{row} has not been looked at yet, so nothing is known of what it needs. A look is "
            "due; ask again in some minutes.",
        )
    return look
