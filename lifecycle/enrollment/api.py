"""API of enrollments, equivalent to the pages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.enrollment.selectors import (
    ENROLMENT_ORDERS,
    FILTER_KEYS,
    ITEM_ORDERS,
    EnrolItemFilter,
    EnrolmentFilter,
    enrolment_actions,
    enrolments_visible,
    get_enrolment_for_user,
    items_visible,
    preview,
)
from lifecycle.enrollment.services.enrolments import (
    EnrolWish,
    enrolment_decide,
    enrolment_request,
    enrolment_undo,
    enrolment_withdraw,
)
from lifecycle.expiry.selectors import outcome_json
from lifecycle.inventory.api.findings import LAKE
from lifecycle.models import Enrolment
from lifecycle.policies.api.serializers import (
    AnswerSerializer,
    EnrolmentDetailSerializer,
    EnrolmentItemSerializer,
    EnrolmentSerializer,
    EnrolPreviewSerializer,
    EnrolWishSerializer,
)
from lifecycle.policies.domain.policy import Values, check_values
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person

CHOICE = [OpenApiParameter(name, str) for name in FILTER_KEYS]


class EnrolmentList(APIView):
    """Enrolments."""

    @extend_schema(
        operation_id="enrolments_list",
        responses=page_of("Enrolment", EnrolmentSerializer),
        parameters=list_parameters("state"),
    )
    def get(self, request: Request) -> Response:
        """List the enrolments that you may see."""
        return keyset_response(
            request,
            enrolments_visible(current_lake(request), person(request)),
            filter_class=EnrolmentFilter,
            orders=ENROLMENT_ORDERS,
            show=lambda row: dict(EnrolmentSerializer(row).data),
        )

    @extend_schema(
        operation_id="enrolments_create",
        request=EnrolWishSerializer,
        responses={201: EnrolmentDetailSerializer},
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Ask two people to enrol the chosen tables (admins and operators)."""
        body = EnrolWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        user, now = person(request), timezone.now()
        wish = EnrolWish(
            selection={key: said[key] for key in FILTER_KEYS},
            wanted=Values(said["level"], said["ttl"]),
            n_tables=said["n_tables"],
            reason=said["reason"],
        )
        made = enrolment_request(current_lake(request), wish, user=user, now=now)
        return Response(_detail(made, user, now), status=201)


class EnrolmentPreview(APIView):
    """What an enrolment would mean."""

    @extend_schema(
        operation_id="enrolments_preview",
        responses=EnrolPreviewSerializer,
        parameters=[
            *LAKE,
            *CHOICE,
            OpenApiParameter("level", int),
            OpenApiParameter("ttl", int),
        ],
    )
    def get(self, request: Request) -> Response:
        """Count the tables of a choice, and what would go under `level` and `ttl`."""
        user = person(request)
        if not user.is_lake_keeper:
            raise NotAllowed("enrol.role", "Admins and operators ask for enrolments.")
        params = request.query_params
        selection = {key: params.get(key, "") for key in FILTER_KEYS}
        found = preview(current_lake(request), selection, _wanted(params))
        shown = {
            "n_tables": found.n_tables,
            "n_observed": found.n_observed,
            "most": found.most,
            "outcome": outcome_json(found.outcome) if found.outcome else None,
        }
        return Response(EnrolPreviewSerializer(shown).data)


class EnrolmentDetail(APIView):
    """One enrolment."""

    @extend_schema(operation_id="enrolments_get", responses=EnrolmentDetailSerializer)
    def get(self, request: Request, enrolment_id: UUID) -> Response:
        """Return an enrolment with the steps that you may take."""
        user = person(request)
        found = get_enrolment_for_user(enrolment_id, user=user)
        return Response(_detail(found, user, timezone.now()))


class EnrolmentItems(APIView):
    """The tables of an enrolment."""

    @extend_schema(
        operation_id="enrolment_items_list",
        responses=page_of("EnrolmentItem", EnrolmentItemSerializer),
        parameters=list_parameters("state", "db", "table"),
    )
    def get(self, request: Request, enrolment_id: UUID) -> Response:
        """List its tables that you may see, with what became of each."""
        user = person(request)
        found = get_enrolment_for_user(enrolment_id, user=user)
        return keyset_response(
            request,
            items_visible(found, user),
            filter_class=EnrolItemFilter,
            orders=ITEM_ORDERS,
            show=lambda row: dict(EnrolmentItemSerializer(row).data),
        )


class EnrolmentDecide(APIView):
    """Deciding on an enrolment."""

    @extend_schema(
        operation_id="enrolments_decide",
        request=AnswerSerializer,
        responses=EnrolmentDetailSerializer,
    )
    def post(self, request: Request, enrolment_id: UUID) -> Response:
        """Approve or reject exactly what has the digest that you read."""
        body = AnswerSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user, now = person(request), timezone.now()
        found = enrolment_decide(
            enrolment_id,
            user=user,
            word=SaidWord(**body.validated_data),
            authenticated_at=authenticated_at(request._request),
            now=now,
        )
        return Response(_detail(found, user, now))


class EnrolmentWithdraw(APIView):
    """Taking an enrolment back before it is decided."""

    @extend_schema(
        operation_id="enrolments_withdraw",
        request=ReasonSerializer,
        responses=EnrolmentDetailSerializer,
    )
    def post(self, request: Request, enrolment_id: UUID) -> Response:
        """Withdraw your enrolment before anybody decided."""
        return _step(request, enrolment_id, undo=False)


class EnrolmentUndo(APIView):
    """Putting back what stood before."""

    @extend_schema(
        operation_id="enrolments_undo",
        request=ReasonSerializer,
        responses=EnrolmentDetailSerializer,
    )
    def post(self, request: Request, enrolment_id: UUID) -> Response:
        """Have the values put back that stood before an enrolment (admins)."""
        return _step(request, enrolment_id, undo=True)


def _step(request: Request, enrolment_id: UUID, *, undo: bool) -> Response:
    reason = said_reason(request)
    user, now = person(request), timezone.now()
    step = enrolment_undo if undo else enrolment_withdraw
    found = step(enrolment_id, user=user, reason=reason, now=now)
    return Response(_detail(found, user, now))


def _detail(found: Enrolment, user: User, now: datetime) -> dict[str, Any]:
    shown: Any = found
    shown.transitions = enrolment_actions(found, user, now=now).names
    data = dict(EnrolmentDetailSerializer(shown).data)
    if not user.is_lake_keeper:
        data["what_if"] = {}  # counts tables that are not theirs
    return data


def _wanted(params: Any) -> Values | None:
    level, ttl = params.get("level", ""), params.get("ttl", "")
    if not level:
        return None
    if not all(one.isascii() and one.isdigit() for one in (level, ttl or "0")):
        raise RuleViolation("policy.values", "LEVEL is 0 or 1, TTL a whole number of days.")
    wanted = Values(int(level), int(ttl) if ttl else None)
    check_values(wanted)
    return wanted
