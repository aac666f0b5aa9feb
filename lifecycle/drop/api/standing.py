"""API of owners' deletion requests and standing rules, equivalent to the pages."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.drop.api.serializers import (
    RuleDecisionSerializer,
    RuleRequestSerializer,
    RuleSerializer,
    WishRequestSerializer,
    WishSerializer,
)
from lifecycle.drop.selectors.plans import WishFilter, wishes_visible
from lifecycle.drop.selectors.standing import RuleFilter, rules_visible
from lifecycle.drop.services.clean_now import clean_now_close, clean_now_request
from lifecycle.drop.services.standing_rules import (
    RuleWish,
    get_rule_for_user,
    standing_rule_decide,
    standing_rule_end,
    standing_rule_request,
)
from portal.access.fresh import authenticated_at
from portal.approvals.domain import SaidWord
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person

ORDERS = {"-created": ("-created_at",), "created": ("created_at",)}


class WishList(APIView):
    """Owners' wishes for clean now."""

    @extend_schema(
        operation_id="wishes_list",
        responses=page_of("Wish", WishSerializer),
        parameters=list_parameters("state", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List your wishes (admins and operators: all)."""
        return keyset_response(
            request,
            wishes_visible(current_lake(request), person(request)),
            filter_class=WishFilter,
            orders=ORDERS,
            show=lambda row: dict(WishSerializer(row).data),
        )

    @extend_schema(
        operation_id="wishes_create",
        request=WishRequestSerializer,
        responses={201: WishSerializer},
    )
    def post(self, request: Request) -> Response:
        """Ask that data of yours be cleaned now."""
        body = WishRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        wish = clean_now_request(
            lake=current_lake(request),
            name=(said["db"], said["table"], said.get("partition", "")),
            with_still_read=said["with_still_read"],
            reason=said["reason"],
            user=person(request),
            now=timezone.now(),
        )
        return Response(WishSerializer(wish).data, status=201)


class WishClose(APIView):
    """Closing a wish."""

    @extend_schema(operation_id="wishes_close", request=ReasonSerializer, responses={204: None})
    def post(self, request: Request, wish_id: UUID) -> Response:
        """Take a wish back, or decline it."""
        reason = said_reason(request)
        clean_now_close(wish_id, user=person(request), reason=reason, now=timezone.now())
        return Response(status=204)


class RuleList(APIView):
    """Standing rules."""

    @extend_schema(
        operation_id="standing_rules_list",
        responses=page_of("StandingRule", RuleSerializer),
        parameters=list_parameters("state", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List the standing rules that you may see."""
        return keyset_response(
            request,
            rules_visible(current_lake(request), person(request)),
            filter_class=RuleFilter,
            orders=ORDERS,
            show=lambda row: dict(RuleSerializer(row).data),
        )

    @extend_schema(
        operation_id="standing_rules_create",
        request=RuleRequestSerializer,
        responses={201: RuleSerializer},
    )
    def post(self, request: Request) -> Response:
        """Ask two people for a standing rule (admins and operators)."""
        body = RuleRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        rule = standing_rule_request(
            current_lake(request),
            RuleWish(**body.validated_data),
            user=person(request),
            now=timezone.now(),
        )
        return Response(RuleSerializer(rule).data, status=201)


class RuleDetail(APIView):
    """One standing rule."""

    @extend_schema(operation_id="standing_rules_get", responses=RuleSerializer)
    def get(self, request: Request, rule_id: UUID) -> Response:
        """Return a rule."""
        return Response(RuleSerializer(get_rule_for_user(rule_id, user=person(request))).data)


class RuleDecide(APIView):
    """Deciding on a standing rule."""

    @extend_schema(
        operation_id="standing_rules_decide",
        request=RuleDecisionSerializer,
        responses=RuleSerializer,
    )
    def post(self, request: Request, rule_id: UUID) -> Response:
        """Approve or reject a rule."""
        body = RuleDecisionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        rule = standing_rule_decide(
            rule_id,
            user=person(request),
            word=SaidWord(said["verdict"], said.get("reason", ""), said["digest"]),
            authenticated_at=authenticated_at(request._request),
            now=timezone.now(),
        )
        return Response(RuleSerializer(rule).data)


class RuleEnd(APIView):
    """Ending a standing rule."""

    @extend_schema(
        operation_id="standing_rules_end", request=ReasonSerializer, responses=RuleSerializer
    )
    def post(self, request: Request, rule_id: UUID) -> Response:
        """End a rule before its last day."""
        user, reason = person(request), said_reason(request)
        rule = standing_rule_end(rule_id, user=user, reason=reason, now=timezone.now())
        return Response(RuleSerializer(rule).data)
