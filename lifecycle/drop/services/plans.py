"""Moves drop plans through their states: request, withdrawal, approval and rejection.

Each function is one transaction: right, compare-and-set, audit. The state only moves along
`TRANSITIONS`. What enters a plan is created by `plan_store` in a worker; `plan_execution` runs it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from lifecycle.drop.domain.plan import plan_digest
from lifecycle.drop.models.plans import ENDED, TRANSITIONS
from lifecycle.drop.selectors.changes import due_ranges
from lifecycle.drop.selectors.plans import get_plan_for_user, plan_loss, plans_visible, typed_name
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DropPlan, DropPlanTable, PlanState
from lifecycle.planning.services.parties import requesters_now, requesters_now_of
from portal.access.models import User
from portal.approvals.changes import Contents, Range
from portal.approvals.domain import DecisionInput, DecisionKind
from portal.approvals.proposals import ProposalKind
from portal.approvals.rows import named
from portal.approvals.selectors import Steps
from portal.lake.errors import NotAllowed, RuleViolation
from portal.lake.reasons import check_reason
from portal.runs.requests.services import run_request

PLAN_KIND = "lifecycle.plan"
APPROVAL_KIND = "lifecycle.drop"


class DropPlans(ProposalKind[DropPlan]):
    """Drop plans, as proposals."""

    name = APPROVAL_KIND
    title = "Drop plan"
    model = DropPlan
    page = "lifecycle:plan"
    transitions = TRANSITIONS
    audited_as = "plan"
    object_type = "drop_plan"
    closed = (
        "plan.not_pending",
        "This plan does not wait for a decision any more. Reload the page.",
    )
    changed = (
        "plan.changed",
        "The plan is not the one that was read or approved. Reload it and read it again.",
    )
    moved_on = (
        "plan.state",
        "The plan has changed since this page was loaded. Reload it to see its status.",
    )
    no_reason = ("plan.reject_reason", "Enter a reason; the requester reads it.")
    not_maker = ("plan.not_maker", "Only its maker may withdraw a plan.")
    contents = Contents(DropPlanTable.objects.for_user, of="plan", same=("digest",))

    def ranges(self, proposal: DropPlan, db: str, table: str) -> Sequence[Range]:
        """Return what the plan's scan saw due of a table."""
        row = proposal.tables.filter(db=db, table=table).first()
        if row is None:
            return ()
        read = {ExpiryClass.STILL_READ.value: "recently read"}
        return [
            Range(one.first, one.last, one.n_items, one.n_bytes, read.get(one.cls, ""))
            for one in due_ranges(row)
        ]

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> DropPlan:
        """Return one plan, or raise NotVisible."""
        return get_plan_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[DropPlan]:
        """Return the plans that a person may see."""
        return plans_visible(lake, user)

    def about(self, proposals: QuerySet[DropPlan], text: str, user: User) -> QuerySet[DropPlan]:
        """Keep those with a table of such a name that the person may see."""
        mine = DropPlanTable.objects.for_user(user).filter(named(text), plan=OuterRef("pk"))
        return proposals.filter(Exists(mine))

    def digest_of(self, proposal: DropPlan) -> str:
        """Return the digest of its items, backup root and days kept, as the row is."""
        return digest_of(proposal)

    def requesters(self, proposal: DropPlan) -> Collection[str]:
        """Return its maker, whose requests it answers, and who last changed what it rests on."""
        return requesters_now(proposal)

    def requesters_of(self, proposals: Sequence[DropPlan]) -> Mapping[UUID, Collection[str]]:
        """Return the same of many."""
        return requesters_now_of(proposals)

    def columns(
        self, proposal: DropPlan, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return who ended it and why."""
        return {"ended_at": now, "ended_by": by, "ended_reason": reason} if to in ENDED else {}

    def check_answer(self, proposal: DropPlan, answer: DecisionInput, *, user: User) -> None:
        """Refuse the approval of a big plan whose name was not typed, wherever it comes from."""
        wanted = typed_name(proposal)
        if answer.decision != DecisionKind.APPROVE or answer.typed.strip() == wanted:
            return
        if plan_loss(proposal, user).needs_typing:
            raise RuleViolation(
                "plan.typed",
                f"This is a lot. Type {wanted} exactly to approve it (the field `typed`).",
                typed=wanted,
            )

    def other_steps(self, proposal: DropPlan, user: User) -> Steps:
        """Return whether its maker may withdraw it while it is created."""
        is_maker = user.username == proposal.requested_by
        return Steps(withdraw=proposal.state == PlanState.DRAFTING and is_maker)


PLANS = DropPlans()
plan_withdraw = PLANS.withdraw
plan_move = PLANS.move
plan_audit = PLANS.audit


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
    """Have a plan created for whole databases and single tables (`db.table`).

    Each call makes a plan of its own; items that stand in a waiting plan are left out of it.
    """
    if not user.is_lake_staff_of(lake):
        raise NotAllowed(
            "plan.role", "Admins and operators make drop plans. Owners may request a deletion."
        )
    check_reason(reason, "plan.reason", "Enter a reason; approvers read it.")
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
    PLANS.audit("requested", plan, actor=requested_by, now=now, selection=selection)
    return plan


def digest_of(plan: DropPlan) -> str:
    """Return the digest of a plan as its row is: of its items, backup root and days kept."""
    return plan_digest(plan.items_sha256, backup_root=plan.backup_root, keep_days=plan.keep_days)
