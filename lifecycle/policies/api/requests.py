"""API to request another policy and to answer such requests, equivalent to the pages."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from lifecycle.models import PolicyRequest
from lifecycle.policies.api.serializers import (
    PolicyParamsSerializer,
    PolicyRequestDetailSerializer,
    PolicyRequestSerializer,
)
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.selectors.requests import (
    REQUEST_ORDERS,
    RequestFilter,
    get_request_for_user,
    requests_visible,
)
from lifecycle.policies.services.exceptions import ExceptionParams, exception_request
from lifecycle.policies.services.extensions import ExtensionParams, extension_request
from lifecycle.policies.services.request_params import (
    HandoverParams,
    SetParams,
    hand_over_request,
    policy_set_request,
)
from lifecycle.policies.services.requests import REQUESTS
from portal.access.models import User
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api


class PolicyRequestList(KeysetList):
    """Policy requests."""

    operation_id = "policy_requests_list"
    serializer_class = PolicyRequestSerializer
    filterset_class = RequestFilter
    orders = REQUEST_ORDERS

    def get_queryset(self) -> Rows:
        """List the requests that you made, may answer, or that are about your tables."""
        return requests_visible(self.lake, self.user)

    @operation(
        "policy_requests_create",
        body=PolicyParamsSerializer,
        answer=PolicyRequestDetailSerializer,
        status=201,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Ask for other values, some days more, another owner, or an exception of a path rule."""
        data = self.data
        now = timezone.now()
        made = _ASKERS[data["kind"]](self.lake, data, self.user, now)
        return _detail(made, self.user)


class PolicyRequestDetail(ApiView):
    """One policy request."""

    @operation("policy_requests_get", answer=PolicyRequestDetailSerializer)
    def get(self, request_id: UUID) -> object:
        """Return a request with the steps that you may take."""
        return _detail(get_request_for_user(request_id, user=self.user), self.user)


def _detail(found: PolicyRequest, user: User) -> object:
    shown: Any = found
    shown.transitions = REQUESTS.steps(found, user, now=timezone.now()).names
    return found


PolicyRequestDecide = decide_api(
    REQUESTS,
    "policy_requests_decide",
    says="Say yes or no to a request.",
    shown=_detail,
    answer=PolicyRequestDetailSerializer,
)
PolicyRequestWithdraw = reasoned_api(
    REQUESTS.withdraw,
    "policy_requests_withdraw",
    says="Take your request back before anybody answered it.",
    shown=_detail,
    answer=PolicyRequestDetailSerializer,
)


def _set(lake: str, data: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = SetParams(
        db=data["db"],
        table=data["table"],
        seen=Values(data["seen_level"], data["seen_ttl"]),
        wanted=Values(data["level"], data["ttl"]),
        reason=data["reason"],
    )
    return policy_set_request(lake, wish, user=user, now=now)


def _extend(lake: str, data: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = ExtensionParams(
        db=data["db"],
        table=data["table"],
        partition=data["partition"],
        days=data["days"],
        until=data["until"],
        reason=data["reason"],
    )
    return extension_request(lake, wish, user=user, now=now)


def _hand_over(lake: str, data: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = HandoverParams(
        db=data["db"],
        table=data["table"],
        seen_owner=data["seen_owner"],
        owner=data["owner"],
        reason=data["reason"],
    )
    return hand_over_request(lake, wish, user=user, now=now)


def _waive(lake: str, data: dict[str, Any], user: User, now: datetime) -> PolicyRequest:
    wish = ExceptionParams(
        db=data["db"],
        table=data["table"],
        rule=data["rule"],
        until=data["until"],
        reason=data["reason"],
    )
    return exception_request(lake, wish, user=user, now=now)


_ASKERS: dict[str, Callable[[str, dict[str, Any], User, datetime], PolicyRequest]] = {
    RequestKind.SET: _set,
    RequestKind.EXTEND: _extend,
    RequestKind.HAND_OVER: _hand_over,
    RequestKind.WAIVE: _waive,
}
