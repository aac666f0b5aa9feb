"""Moves drop plans through their states: request, withdrawal, approval and rejection.

Each function is one transaction: right, compare-and-set, audit. The state only moves along
`TRANSITIONS`. What enters a plan is drawn up by `plan_store` in a worker; `plan_execution` runs it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from lifecycle.drop.domain.plan import plan_digest
from lifecycle.drop.models.plans import ENDED, TRANSITIONS
from lifecycle.drop.selectors.plans import plan_loss, typed_name
from lifecycle.models import DropPlan, PlanState
from portal.access.models import User
from portal.approvals.models import Approval
from portal.approvals.services import approval_decide, approval_withdraw
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_reason, check_text
from portal.runs.requests.services import run_request

PLAN_KIND = "lifecycle.plan"
APPROVAL_KIND = "lifecycle.drop"


def get_plan_for_user(plan_id: UUID | str, *, user: User) -> DropPlan:
    """Return a plan that `user` may see.

    Raises:
        NotVisible: `plan.missing`, whether it exists or not.
    """
    plan = DropPlan.objects.for_user(user).select_related("approval", "run").filter(pk=plan_id)
    found = plan.first()
    if found is None:
        raise NotVisible("plan.missing", "There is no such drop plan, or it is not yours to see.")
    return found


def plan_move(
    plan: DropPlan, to: PlanState, *, now: datetime, by: str = "", why: str = "", **fields: Any
) -> None:
    """Move a plan to another state by compare-and-set; the object follows.

    Raises:
        StaleState: `plan.state` when the plan is no longer where this object says, or the step
            does not exist.
    """
    source = plan.state
    if to in ENDED:
        fields |= {"ended_at": now, "ended_by": by, "ended_reason": why}
    allowed = to in TRANSITIONS.get(source, frozenset())
    moved = allowed and DropPlan.objects.filter(pk=plan.pk, state=source).update(state=to, **fields)
    if not moved:
        raise StaleState(
            "plan.state",
            "The plan has moved on since this page was made. Reload it to see where it stands.",
            plan=plan.pk,
            state=source,
            to=to,
        )
    plan.state = to
    for name, value in fields.items():
        setattr(plan, name, value)


@transaction.atomic
def plan_request(
    lake: str,
    *,
    databases: Sequence[str] = (),
    tables: Sequence[str] = (),
    reason: str,
    user: User,
    now: datetime,
) -> DropPlan:
    """Have a plan drawn up for whole databases and single tables (`db.table`).

    Each call makes a plan of its own; items that stand in a waiting plan are left out of it.
    """
    if not user.is_lake_keeper:
        raise NotAllowed(
            "plan.role", "Admins and operators make drop plans. Owners may ask for 'clean now'."
        )
    check_reason(reason, "plan.reason", "Say why this data may go: approvers will read it.")
    return plan_create(
        lake,
        selection={"databases": sorted(set(databases)), "tables": sorted(set(tables))},
        requested_by=user.username,
        reason=reason.strip(),
        now=now,
    )


def plan_create(
    lake: str,
    *,
    selection: dict[str, Any],
    requested_by: str,
    reason: str,
    now: datetime,
    **fields: Any,
) -> DropPlan:
    """Write a plan in DRAFTING and its run, inside the caller's transaction."""
    if not selection["databases"] and not selection["tables"]:
        raise RuleViolation("plan.empty_choice", "Choose at least one database or table.")
    plan = DropPlan.objects.create(
        lake=lake,
        selection=selection,
        requested_by=requested_by,
        requesters=[requested_by],
        reason=reason,
        created_at=now,
        **fields,
    )
    plan.plan_run = run_request(
        PLAN_KIND,
        lake=lake,
        params={"plan": str(plan.pk), "now": now.isoformat()},
        requested_by=requested_by,
        reason=reason,
        unique_key=f"plan:{plan.pk}",
        subject=("drop_plan", str(plan.pk)),
        now=now,
    )
    plan.save(update_fields=["plan_run"])
    plan_audit("plan.requested", plan, actor=requested_by, now=now, selection=selection)
    return plan


def plan_audit(action: str, plan: DropPlan, *, actor: str, now: datetime, **data: Any) -> None:
    """Write what happened to a plan into the audit chain (inside the caller's transaction)."""
    audit_record(
        action,
        actor=actor,
        lake=plan.lake,
        object_type="drop_plan",
        object_id=str(plan.pk),
        data={"digest": plan.digest, **data},
        now=now,
    )


@transaction.atomic
def plan_withdraw(plan_id: UUID | str, *, user: User, reason: str, now: datetime) -> DropPlan:
    """Take a plan back, by who asked for it, until the first decision; twice is StaleState."""
    plan = get_plan_for_user(plan_id, user=user)
    if plan.state == PlanState.PENDING and plan.approval is not None:
        approval_withdraw(plan.approval.pk, user=user, reason=reason, now=now)
        return get_plan_for_user(plan_id, user=user)
    if user.username != plan.requested_by:
        raise NotAllowed("plan.not_maker", "Only its maker may withdraw a plan.")
    check_text(reason)
    plan_move(plan, PlanState.WITHDRAWN, now=now, by=user.username, why=reason)
    plan_audit("plan.withdrawn", plan, actor=user.username, now=now, reason=reason)
    return plan


def plan_approve(  # noqa: PLR0913 - an approval carries what it was given on
    plan_id: UUID | str,
    *,
    user: User,
    digest: str,
    authenticated_at: datetime | None,
    now: datetime,
    reason: str = "",
    typed: str = "",
) -> DropPlan:
    """Record one person's yes to exactly the plan with this digest.

    Never the makers' own; needs a fresh login, and for a big plan its name typed; a second yes of
    the same person is StaleState.
    """
    return _decide(
        plan_id,
        user=user,
        typed=typed,
        verdict="APPROVE",
        reason=reason,
        digest=digest,
        authenticated_at=authenticated_at,
        now=now,
    )


def plan_reject(
    plan_id: UUID | str,
    *,
    user: User,
    digest: str,
    authenticated_at: datetime | None,
    now: datetime,
    reason: str,
) -> DropPlan:
    """End a plan with one person's reasoned no."""
    check_reason(reason, "plan.reject_reason", "Say why: the maker will read it.")
    return _decide(
        plan_id,
        user=user,
        verdict="REJECT",
        reason=reason.strip(),
        digest=digest,
        authenticated_at=authenticated_at,
        now=now,
    )


def _decide(
    plan_id: UUID | str, *, user: User, digest: str, typed: str | None = None, **decision: Any
) -> DropPlan:
    plan = get_plan_for_user(plan_id, user=user)
    if plan.state not in (PlanState.PENDING, PlanState.APPROVED) or plan.approval is None:
        raise StaleState(
            "plan.not_pending", "This plan does not wait for a decision any more. Reload the page."
        )
    if not digest == plan.digest == digest_of(plan):
        raise StaleState(
            "plan.changed", "The plan is not the one that you read. Reload it and read it again."
        )
    if typed is not None:
        _check_typed(plan, typed, user=user)
    approval_decide(plan.approval.pk, user=user, digest=digest, **decision)
    return get_plan_for_user(plan_id, user=user)


def digest_of(plan: DropPlan) -> str:
    """Return the digest of a plan as its row is: of its items, backup root and days kept."""
    return plan_digest(plan.items_sha256, backup_root=plan.backup_root, keep_days=plan.keep_days)


def _check_typed(plan: DropPlan, typed: str, *, user: User) -> None:
    """Refuse the approval of a big plan whose name was not typed, wherever it comes from."""
    wanted = typed_name(plan)
    if plan_loss(plan, user).needs_typing and typed.strip() != wanted:
        raise RuleViolation(
            "plan.typed",
            f"This is a lot. Type {wanted} exactly to approve it (the field `typed`).",
            typed=wanted,
        )


def plan_lock(approval: Approval) -> None:
    """Lock the plan that an approval is about, right after the approval itself."""
    DropPlan.objects.select_for_update().filter(pk=approval.object_id).first()


def plan_approved(approval: Approval, now: datetime) -> None:
    """Follow an approval that is complete (called in its transaction)."""
    plan = _plan_of(approval)
    if digest_of(plan) != approval.digest:
        raise StaleState("plan.changed", "The plan is not the one that was approved.")
    plan_move(plan, PlanState.APPROVED, now=now)
    plan_audit("plan.approved", plan, actor="system", now=now)


def plan_rejected(approval: Approval, now: datetime) -> None:
    """Follow an approval that one person refused (called in its transaction)."""
    plan = _plan_of(approval)
    refused = approval.decisions.filter(verdict="REJECT").first()
    by, reason = (refused.user.username, refused.reason) if refused else ("", "")
    plan_move(plan, PlanState.REJECTED, now=now, by=by, why=reason)
    plan_audit("plan.rejected", plan, actor=by or "system", now=now, reason=reason)


def plan_withdrawn(approval: Approval, now: datetime) -> None:
    """Follow an approval that was taken back (called in its transaction)."""
    plan = _plan_of(approval)
    reason = approval.end_reason
    plan_move(plan, PlanState.WITHDRAWN, now=now, by=plan.requested_by, why=reason)
    plan_audit("plan.withdrawn", plan, actor=plan.requested_by, now=now, reason=reason)


def plan_lapsed(approval: Approval, now: datetime) -> None:
    """Follow an approval that ran out of time (called in its transaction)."""
    plan = _plan_of(approval)
    plan_move(plan, PlanState.LAPSED, now=now, by="system", why="Nobody acted in time.")
    plan_audit("plan.lapsed", plan, actor="system", now=now)


def _plan_of(approval: Approval) -> DropPlan:
    return DropPlan.objects.get(pk=approval.object_id)
