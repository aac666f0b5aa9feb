"""API of drop plans, deletion requests and standing rules, equivalent to the pages.

Approvals need a session whose password was given in the last 15 minutes; a token cannot approve.
"""

from typing import Any
from uuid import UUID

from django.utils import timezone

from lifecycle.drop.api.serializers import (
    ApproveSerializer,
    PlanDetailSerializer,
    PlanRequestSerializer,
    PlanResultSerializer,
    PlanSerializer,
    PlanTableSerializer,
    RejectSerializer,
)
from lifecycle.drop.domain.loss_words import NOT_RESTORED
from lifecycle.drop.selectors.plans import (
    PLAN_ORDERS,
    PLAN_TABLE_ORDERS,
    RESULT_ORDERS,
    PlanFilter,
    PlanResultFilter,
    PlanTableFilter,
    get_plan_for_user,
    left_out_visible,
    plan_loss,
    plan_results,
    plan_tables,
    plans_visible,
    typed_name,
)
from lifecycle.drop.services.plans import PLANS, plan_request
from lifecycle.drop.services.preview import plan_preview, require_something
from lifecycle.models import DropPlan
from lifecycle.planning.selectors.inputs import plan_limits
from portal.access.models import User
from portal.approvals.selectors import decisions_of, requesters_shown
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api


def plan_answer(plan: DropPlan, user: User) -> dict[str, Any]:
    """Return a plan as this person sees it."""
    loss = plan_loss(plan, user)
    approval = plan.approval
    return {
        name: getattr(plan, name)
        for name in (
            *("id", "lake", "state", "requested_by", "reason", "created_at"),
            *("digest", "outcome", "ended_at", "ended_by", "ended_reason"),
        )
    } | {
        "requesters": requesters_shown(approval, plan.requesters),
        "loss": loss,
        "decisions": decisions_of(plan.approval),
        "n_needed": approval.n_needed if approval else None,
        "limits": None if loss.is_part else plan_limits(plan),
        "expires_at": approval.expires_at if approval else None,
        "cool_until": approval.cool_until if approval else None,
        "left_out": left_out_visible(plan, loss),
        "transitions": PLANS.steps(plan, user, now=timezone.now()).names,
        "typed": typed_name(plan) if loss.needs_typing else "",
        "run": plan.run_id,
        "not_restored": list(NOT_RESTORED),
    }


class PlanList(KeysetList):
    """Drop plans."""

    operation_id = "plans_list"
    serializer_class = PlanSerializer
    filterset_class = PlanFilter
    orders = PLAN_ORDERS

    def get_queryset(self) -> Rows:
        """List the plans that you may see, newest first."""
        return plans_visible(self.lake, self.user)

    @operation("plans_create", body=PlanRequestSerializer, answer=PlanDetailSerializer, status=201)
    def post(self) -> object:
        """Have a plan created (admins and operators)."""
        said, now = self.data, timezone.now()
        chosen = {name: said.get(name, []) for name in ("databases", "tables")}
        if self.user.is_lake_staff_of(self.lake) and any(chosen.values()):
            require_something(plan_preview(self.lake, self.user, **chosen, now=now))
        plan = plan_request(self.lake, **chosen, reason=said["reason"], user=self.user, now=now)
        return plan_answer(plan, self.user)


class PlanDetail(ApiView):
    """One drop plan."""

    @operation("plans_get", answer=PlanDetailSerializer)
    def get(self, plan_id: UUID) -> object:
        """Return a plan: what is lost, who decided, and your next steps."""
        return plan_answer(get_plan_for_user(plan_id, user=self.user), self.user)


class PlanTables(KeysetList):
    """The tables of a plan."""

    operation_id = "plans_tables"
    serializer_class = PlanTableSerializer
    filterset_class = PlanTableFilter
    orders = PLAN_TABLE_ORDERS

    def get_queryset(self) -> Rows:
        """List what each table that you may see loses."""
        return plan_tables(get_plan_for_user(self.kwargs["plan_id"], user=self.user), self.user)


class PlanResults(KeysetList):
    """What a plan's run left alone."""

    operation_id = "plans_results"
    serializer_class = PlanResultSerializer
    filterset_class = PlanResultFilter
    orders = RESULT_ORDERS

    def get_queryset(self) -> Rows:
        """List the items that were not dropped, each with its reason."""
        return plan_results(get_plan_for_user(self.kwargs["plan_id"], user=self.user), self.user)


PlanApprove = decide_api(
    PLANS,
    "plans_approve",
    says="Approve exactly the content with this digest.",
    shown=plan_answer,
    answer=PlanDetailSerializer,
    body=ApproveSerializer,
    decision="APPROVE",
)
PlanReject = decide_api(
    PLANS,
    "plans_reject",
    says="End a plan with a reason.",
    shown=plan_answer,
    answer=PlanDetailSerializer,
    body=RejectSerializer,
    decision="REJECT",
)
PlanWithdraw = reasoned_api(
    PLANS.withdraw,
    "plans_withdraw",
    says="Take a plan of yours back until the first decision.",
    shown=plan_answer,
    answer=PlanDetailSerializer,
)
