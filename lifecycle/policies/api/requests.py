"""API to request another policy and to answer such requests, equivalent to the pages."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.inventory.api.findings import LAKE
from lifecycle.models import PolicyRequest
from lifecycle.policies.api.serializers import (
    AnswerSerializer,
    PolicyRequestDetailSerializer,
    PolicyRequestSerializer,
    PolicyWishSerializer,
)
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.selectors.requests import (
    REQUEST_ORDERS,
    RequestFilter,
    get_request_for_user,
    request_actions,
    requests_visible,
)
from lifecycle.policies.services.extensions import ExtendWish, extension_request
from lifecycle.policies.services.requests import policy_request_decide, policy_request_withdraw
from lifecycle.policies.services.waivers import WaiverWish, waiver_request
from lifecycle.policies.services.wishes import (
    HandOverWish,
    SetWish,
    hand_over_request,
    policy_set_request,
)
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class PolicyRequestList(APIView):
    """Policy requests."""

    @extend_schema(
        operation_id="policy_requests_list",
        responses=page_of("PolicyRequest", PolicyRequestSerializer),
        parameters=list_parameters("state", "kind", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List the requests that you made, may answer, or that are about your tables."""
        return keyset_response(
            request,
            requests_visible(current_lake(request), person(request)),
            filter_class=RequestFilter,
            orders=REQUEST_ORDERS,
            show=lambda row: dict(PolicyRequestSerializer(row).data),
        )

    @extend_schema(
        operation_id="policy_requests_create",
        request=PolicyWishSerializer,
        responses={201: PolicyRequestDetailSerializer},
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Ask for other values, some days more, another owner, or a waiver of a path rule."""
        body = PolicyWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        user, now = person(request), timezone.now()
        made = _ASKERS[said["kind"]](current_lake(request), said, user, now)
        return Response(_detail(made, user, now), status=201)


class PolicyRequestDetail(APIView):
    """One policy request."""

    @extend_schema(operation_id="policy_requests_get", responses=PolicyRequestDetailSerializer)
    def get(self, request: Request, request_id: UUID) -> Response:
        """Return a request with the steps that you may take."""
        user = person(request)
        return Response(_detail(get_request_for_user(request_id, user=user), user, timezone.now()))


class PolicyRequestDecide(APIView):
    """Answering a policy request."""

    @extend_schema(
        operation_id="policy_requests_decide",
        request=AnswerSerializer,
        responses=PolicyRequestDetailSerializer,
    )
    def post(self, request: Request, request_id: UUID) -> Response:
        """Say yes or no to a request."""
        body = AnswerSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user, now = person(request), timezone.now()
        found = policy_request_decide(
            request_id,
            user=user,
            word=SaidWord(**body.validated_data),
            authenticated_at=authenticated_at(request._request),
            now=now,
        )
        return Response(_detail(found, user, now))


class PolicyRequestWithdraw(APIView):
    """Taking a policy request back."""

    @extend_schema(
        operation_id="policy_requests_withdraw",
        request=ReasonSerializer,
        responses=PolicyRequestDetailSerializer,
    )
    def post(self, request: Request, request_id: UUID) -> Response:
        """Take your request back before anybody answered it."""
        reason = said_reason(request)
        user, now = person(request), timezone.now()
        found = policy_request_withdraw(request_id, user=user, reason=reason, now=now)
        return Response(_detail(found, user, now))


def _detail(found: PolicyRequest, user: User, now: datetime) -> dict[str, Any]:
    steps = request_actions(found, user, now=now).names
    shown: Any = found
    shown.transitions = steps
    return dict(PolicyRequestDetailSerializer(shown).data)


def _set(lake: str, said: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = SetWish(
        db=said["db"],
        table=said["table"],
        seen=Values(said["seen_level"], said["seen_ttl"]),
        wanted=Values(said["level"], said["ttl"]),
        reason=said["reason"],
    )
    return policy_set_request(lake, wish, user=user, now=now)


def _extend(lake: str, said: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = ExtendWish(
        db=said["db"],
        table=said["table"],
        partition=said["partition"],
        days=said["days"],
        until=said["until"],
        reason=said["reason"],
    )
    return extension_request(lake, wish, user=user, now=now)


def _hand_over(lake: str, said: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = HandOverWish(
        db=said["db"],
        table=said["table"],
        seen_owner=said["seen_owner"],
        owner=said["owner"],
        reason=said["reason"],
    )
    return hand_over_request(lake, wish, user=user, now=now)


def _waive(lake: str, said: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = WaiverWish(
        db=said["db"],
        table=said["table"],
        rule=said["rule"],
        until=said["until"],
        reason=said["reason"],
    )
    return waiver_request(lake, wish, user=user, now=now)


_ASKERS: dict[str, Callable[[str, dict[str, Any], User, datetime], PolicyRequest]] = {
    RequestKind.SET: _set,
    RequestKind.EXTEND: _extend,
    RequestKind.HAND_OVER: _hand_over,
    RequestKind.WAIVE: _waive,
}
