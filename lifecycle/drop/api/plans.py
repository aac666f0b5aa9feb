"""API of drop plans, deletion requests and standing rules, equivalent to the pages.

Approvals need a session whose password was given in the last 15 minutes; a token cannot approve.
"""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

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
    left_out_visible,
    plan_actions,
    plan_loss,
    plan_results,
    plan_tables,
    plans_visible,
    typed_name,
)
from lifecycle.drop.services.plans import (
    get_plan_for_user,
    plan_approve,
    plan_reject,
    plan_request,
    plan_withdraw,
)
from lifecycle.drop.services.preview import plan_preview, require_something
from lifecycle.models import DropPlan
from lifecycle.planning.selectors.limits import plan_limits
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.approvals.selectors import decisions_of, requesters_shown
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


def plan_answer(plan: DropPlan, user: User, *, status: int = 200) -> Response:
    """Answer with a plan as this person sees it."""
    decisions = decisions_of(plan.approval)
    loss = plan_loss(plan, user)
    approval = plan.approval
    shown: dict[str, Any] = {
        name: getattr(plan, name)
        for name in (
            *("id", "lake", "state", "requested_by", "reason", "created_at"),
            *("digest", "outcome", "ended_at", "ended_by", "ended_reason"),
        )
    } | {
        "requesters": requesters_shown(approval, plan.requesters),
        "loss": loss,
        "decisions": decisions,
        "n_needed": approval.n_needed if approval else None,
        "limits": None if loss.is_part else plan_limits(plan),
        "lapses_at": approval.lapses_at if approval else None,
        "cool_until": approval.cool_until if approval else None,
        "left_out": left_out_visible(plan, loss),
        "transitions": plan_actions(plan, user, decisions).names,
        "typed": typed_name(plan) if loss.needs_typing else "",
        "run": plan.run_id,
        "not_restored": list(NOT_RESTORED),
    }
    return Response(PlanDetailSerializer(shown).data, status=status)


class PlanList(APIView):
    """Drop plans."""

    @extend_schema(
        operation_id="plans_list",
        responses=page_of("Plan", PlanSerializer),
        parameters=list_parameters("state", "requested_by", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List the plans that you may see, newest first."""
        return keyset_response(
            request,
            plans_visible(current_lake(request), person(request)),
            filter_class=PlanFilter,
            orders=PLAN_ORDERS,
            show=lambda row: dict(PlanSerializer(row).data),
        )

    @extend_schema(
        operation_id="plans_create",
        request=PlanRequestSerializer,
        responses={201: PlanDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        """Have a plan drawn up (admins and operators)."""
        body = PlanRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said, user, now = body.validated_data, person(request), timezone.now()
        lake = current_lake(request)
        chosen = {name: said.get(name, []) for name in ("databases", "tables")}
        if user.is_lake_keeper and any(chosen.values()):
            require_something(plan_preview(lake, user, **chosen, now=now))
        plan = plan_request(lake, **chosen, reason=said["reason"], user=user, now=now)
        return plan_answer(plan, user, status=201)


class PlanDetail(APIView):
    """One drop plan."""

    @extend_schema(operation_id="plans_get", responses=PlanDetailSerializer)
    def get(self, request: Request, plan_id: UUID) -> Response:
        """Return a plan: what is lost, who decided, and your next steps."""
        user = person(request)
        return plan_answer(get_plan_for_user(plan_id, user=user), user)


class PlanTables(APIView):
    """The tables of a plan."""

    @extend_schema(
        operation_id="plans_tables",
        responses=page_of("PlanTable", PlanTableSerializer),
        parameters=list_parameters("db", "table", "owner"),
    )
    def get(self, request: Request, plan_id: UUID) -> Response:
        """List what each table that you may see loses."""
        user = person(request)
        return keyset_response(
            request,
            plan_tables(get_plan_for_user(plan_id, user=user), user),
            filter_class=PlanTableFilter,
            orders=PLAN_TABLE_ORDERS,
            show=lambda row: dict(PlanTableSerializer(row).data),
        )


class PlanResults(APIView):
    """What a plan's run left alone."""

    @extend_schema(
        operation_id="plans_results",
        responses=page_of("PlanResult", PlanResultSerializer),
        parameters=list_parameters("db", "table", "outcome"),
    )
    def get(self, request: Request, plan_id: UUID) -> Response:
        """List the items that were not dropped, each with its reason."""
        user = person(request)
        return keyset_response(
            request,
            plan_results(get_plan_for_user(plan_id, user=user), user),
            filter_class=PlanResultFilter,
            orders=RESULT_ORDERS,
            show=lambda row: dict(PlanResultSerializer(row).data),
        )


class PlanApprove(APIView):
    """Approving a plan."""

    @extend_schema(
        operation_id="plans_approve", request=ApproveSerializer, responses=PlanDetailSerializer
    )
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Approve exactly the content with this digest."""
        body = ApproveSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = person(request)
        plan = plan_approve(
            plan_id,
            user=user,
            digest=body.validated_data["digest"],
            reason=body.validated_data.get("reason", ""),
            typed=body.validated_data.get("typed", ""),
            authenticated_at=authenticated_at(request._request),
            now=timezone.now(),
        )
        return plan_answer(plan, user)


class PlanReject(APIView):
    """Rejecting a plan."""

    @extend_schema(
        operation_id="plans_reject", request=RejectSerializer, responses=PlanDetailSerializer
    )
    def post(self, request: Request, plan_id: UUID) -> Response:
        """End a plan with a reason."""
        body = RejectSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = person(request)
        plan = plan_reject(
            plan_id,
            user=user,
            digest=body.validated_data["digest"],
            reason=body.validated_data["reason"],
            authenticated_at=authenticated_at(request._request),
            now=timezone.now(),
        )
        return plan_answer(plan, user)


class PlanWithdraw(APIView):
    """Withdrawing a plan."""

    @extend_schema(
        operation_id="plans_withdraw", request=ReasonSerializer, responses=PlanDetailSerializer
    )
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Take a plan of yours back until the first decision."""
        user, reason = person(request), said_reason(request)
        plan = plan_withdraw(plan_id, user=user, reason=reason, now=timezone.now())
        return plan_answer(plan, user)
