"""Moves removal lists through their approval, up to their end.

A list comes from the job that drew it up; two people who neither asked for it nor set the policy
approve exactly its digest. Each step is one transaction that moves the plan by compare-and-set,
and its task with it. The locks are taken in the order approval, plan, task.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.models import OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.removals.domain.states import OPEN, TRANSITIONS, RemovalState
from optimizer.removals.selectors import get_removal_for_user
from optimizer.removals.services.records import deleted_by
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.approvals.models import Approval
from portal.approvals.services import approval_decide, approval_open, approval_withdraw
from portal.approvals.sizes import plan_needed
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState

APPROVAL_KIND = "optimizer.removal"
DECIDES = frozenset(
    {"is_on", "kinds", "expire_days", "keep_snapshots", "orphan_days", "quarantine_days"}
    | {"lock", "clean_commits", "ttl_days", "stuck_minutes"}
)
"""Fields of a policy by which something goes: who wrote them does not approve."""
_BY_ITSELF = "lakewarden"
_COUNTS = ("n_items", "n_files", "n_bytes")
_FACTS = ("files", "stays", "oldest_at", "newest_at", "sample", "file_sample", "left", "notes",
          "quarantine_days")  # fmt: skip


def removal_propose(
    task: OptimizeTask, proposal: Mapping[str, Any], *, now: datetime
) -> RemovalPlan:
    """Show a list that a job drew up to people; inside the caller's transaction."""
    plan = RemovalPlan(
        table=task.iceberg,
        task=task,
        kind=task.kind,
        digest=str(proposal["digest"]),
        items_uri=str(proposal["uri"]),
        snapshot_id=proposal.get("snapshot_id"),
        facts={name: proposal[name] for name in _FACTS if name in proposal},
        **{name: int(proposal[name]) for name in _COUNTS},
    )
    return removal_open(task, plan, now=now)


def removal_open(task: OptimizeTask, plan: RemovalPlan, *, now: datetime) -> RemovalPlan:
    """Ask people about a plan that was not kept yet; its task waits for them from now on."""
    table = task.subject
    plan.requesters, plan.reason, plan.created_at = _requesters(task), task.reason, now
    plan.approval = approval_open(
        APPROVAL_KIND,
        lake=table.lake,
        object_id=str(plan.pk),
        digest=plan.digest,
        requesters=plan.requesters,
        summary={"kind": plan.kind, "table": str(table), **_counted(plan)},
        # As for plans that drop: a big list needs more people.
        n_needed=plan_needed(table.lake, n_items=plan.n_files, n_bytes=plan.n_bytes).n,
        now=now,
    )
    plan.save()
    task.state, task.run, task.sent_at = TaskState.TO_APPROVE, None, None
    task.waits_for = f"A list of what would go waits for {plan.approval.n_needed} people."
    task.save(update_fields=["state", "run", "sent_at", "waits_for"])
    _audit("proposed", plan, actor=plan.requesters[0], now=now, **_counted(plan))
    return plan


def removal_decide(
    plan_id: UUID | str,
    *,
    user: User,
    word: SaidWord,
    authenticated_at: datetime | None,
    now: datetime,
) -> RemovalPlan:
    """Record one person's word on exactly this list; never a requester's, with a fresh login.

    Raises:
        NotVisible, NotAllowed, RuleViolation; StaleState: `removal.closed`, `removal.stale`.
    """
    plan = get_removal_for_user(plan_id, user=user)
    if plan.state not in (RemovalState.PENDING, RemovalState.APPROVED) or plan.approval_id is None:
        raise StaleState("removal.closed", "This list does not wait for a decision any more.")
    if word.digest != plan.digest:
        raise StaleState("removal.stale", "The list is not the one that you read. Reload it.")
    if word.verdict == "REJECT" and not word.reason.strip():
        raise RuleViolation("removal.reject_reason", "Say why: its owners will read it.")
    approval_decide(
        plan.approval_id,
        user=user,
        verdict=word.verdict,
        reason=word.reason.strip(),
        digest=word.digest,
        authenticated_at=authenticated_at,
        now=now,
    )
    return get_removal_for_user(plan_id, user=user)


def removal_withdraw(plan_id: UUID | str, *, user: User, reason: str, now: datetime) -> RemovalPlan:
    """Take a list back, by who asked for it, until the first decision; twice is StaleState.

    Raises:
        NotVisible, NotAllowed; StaleState: `removal.closed`, or somebody has decided already.
    """
    plan = get_removal_for_user(plan_id, user=user)
    if plan.state != RemovalState.PENDING or plan.approval_id is None:
        raise StaleState("removal.closed", "This list does not wait for a decision any more.")
    approval_withdraw(plan.approval_id, user=user, reason=reason, now=now)
    return get_removal_for_user(plan_id, user=user)


def removal_lock(approval: Approval) -> None:
    """Lock the plan that an approval is about, right after the approval itself."""
    RemovalPlan.objects.select_for_update().filter(pk=approval.object_id).first()


def removal_approved(approval: Approval, now: datetime) -> None:
    """Follow an approval that is complete (called in its transaction)."""
    plan = _of(approval)
    if plan.digest != approval.digest:
        raise StaleState("removal.stale", "The list is not the one that was approved.")
    removal_move(plan, RemovalState.APPROVED, now=now)
    OptimizeTask.objects.filter(pk=plan.task_id, state=TaskState.TO_APPROVE).update(
        waits_for="Approved. What is on the list goes after the cooling-off time."
    )
    _audit("approved", plan, actor=_BY_ITSELF, now=now)


def removal_rejected(approval: Approval, now: datetime) -> None:
    """Follow an approval that one person refused (called in its transaction)."""
    refused = approval.decisions.filter(verdict="REJECT").first()
    by, reason = (refused.user.username, refused.reason) if refused else (_BY_ITSELF, "")
    _unanswered(approval, RemovalState.REJECTED, by=by, why=reason, now=now)


def removal_withdrawn(approval: Approval, now: datetime) -> None:
    """Follow an approval that was taken back (called in its transaction)."""
    plan = _of(approval)
    by = plan.requesters[0] if plan.requesters else _BY_ITSELF
    _unanswered(approval, RemovalState.WITHDRAWN, by=by, why=approval.end_reason, now=now)


def removal_lapsed(approval: Approval, now: datetime) -> None:
    """Follow an approval that ran out of time (called in its transaction)."""
    why = "Nobody decided, or nothing could be done, in time."
    _unanswered(approval, RemovalState.LAPSED, by=_BY_ITSELF, why=why, now=now)


def removal_move(plan: RemovalPlan, to: RemovalState, *, now: datetime, **fields: Any) -> None:
    """Move a plan to another state by compare-and-set; the object follows.

    Raises:
        StaleState: `removal.state`, it is not where this object says, or there is no such step.
    """
    source = RemovalState(plan.state)
    if to not in OPEN:
        fields["ended_at"] = now
    allowed = to in TRANSITIONS[source]
    moved = RemovalPlan.objects.filter(pk=plan.pk, state=source)
    if not (allowed and moved.update(state=to, **fields)):
        raise StaleState(
            "removal.state", "The list has moved on since this page was made. Reload it."
        )
    plan.state = to
    for name, value in fields.items():
        setattr(plan, name, value)


def removal_ended(task: OptimizeTask, result: Mapping[str, Any], *, now: datetime) -> None:
    """Write what came of the list that a task removed; inside the caller's transaction."""
    plan = _running(task)
    if plan is None:
        return
    outcome = TaskState(str(result["outcome"]))
    to = {
        TaskState.DONE: RemovalState.DONE,
        TaskState.PARTIAL: RemovalState.PARTIAL,
        TaskState.NOTHING: RemovalState.NOTHING,
    }.get(outcome, RemovalState.FAILED)
    removed = dict(result.get("removed") or {})
    removal_move(
        plan, to, now=now, outcome=str(result.get("reason", "")), removed=removed, ended_by=""
    )
    _audit("ended", plan, actor=_BY_ITSELF, now=now, state=str(to), removed=removed)


def removal_lost(task: OptimizeTask, *, why: str, now: datetime) -> None:
    """End the list of a task whose run ended without a word: its approval is used up.

    What the run had deleted by then is recorded with it.
    """
    plan = _running(task)
    if plan is None:
        return
    told = deleted_by(plan)
    outcome = f"{why} The approval is used up: what is left needs a new list."
    removed = {"n_items": 0, "n_files": told.n_files, "n_bytes": told.n_bytes, "files": {}}
    if told.n_files and plan.kind == TaskKind.ORPHANS:
        removed["n_items"] = told.n_files
    removal_move(
        plan,
        RemovalState.FAILED,
        now=now,
        outcome=f"{outcome} {told.words}".rstrip(),
        removed=removed if told.n_files else {},
    )
    _audit("lost", plan, actor=_BY_ITSELF, now=now, reason=why, n_files=told.n_files)


def end_task(plan: RemovalPlan, *, code: str, why: str, now: datetime) -> None:
    """Take the task of a list that will not be acted on out of the queue."""
    OptimizeTask.objects.filter(pk=plan.task_id, state=TaskState.TO_APPROVE).update(
        state=TaskState.CANCELLED,
        is_open=None,
        ended_at=now,
        outcome_code=code,
        outcome=why,
        waits_for="",
    )


def _unanswered(approval: Approval, to: RemovalState, *, by: str, why: str, now: datetime) -> None:
    plan = _of(approval)
    if plan.state not in (RemovalState.PENDING, RemovalState.APPROVED):
        return  # it ended for a reason of its own
    removal_move(plan, to, now=now, ended_by=by, outcome=why)
    end_task(plan, code=f"removal.{to.lower()}", why=f"{to.capitalize()} by {by}: {why}", now=now)
    _audit(to.lower(), plan, actor=by, now=now, reason=why)


def _requesters(task: OptimizeTask) -> list[str]:
    """Return who asked, and who wrote the policy by which something goes."""
    versions = PolicyVersion.objects.filter(pk__in=task.policy_versions)
    wrote = {one.by for one in versions if DECIDES & one.values.keys()}
    asked = [task.asked_by] if task.asked_by else []
    return [*asked, *sorted(wrote - set(asked))] or [_BY_ITSELF]


def _running(task: OptimizeTask) -> RemovalPlan | None:
    plans = task.removals.select_for_update().filter(state=RemovalState.RUNNING)
    return plans.first()


def _of(approval: Approval) -> RemovalPlan:
    return RemovalPlan.objects.select_related("table", "hudi").get(pk=approval.object_id)


def _counted(plan: RemovalPlan) -> dict[str, int]:
    return {name: getattr(plan, name) for name in _COUNTS}


def _audit(what: str, plan: RemovalPlan, *, actor: str, now: datetime, **data: Any) -> None:
    table = plan.subject
    audit_record(
        f"removal.{what}",
        actor=actor,
        lake=table.lake,
        object_type="removal",
        object_id=str(plan.pk),
        data={"digest": plan.digest, "kind": plan.kind, "table": str(table), **data},
        now=now,
    )
