"""What can a program do with policies and the requests about them? As on the pages."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.api.findings import LAKE
from lifecycle.api.policy_serializers import (
    AnswerSerializer,
    DatabasePolicySerializer,
    PolicyRequestDetailSerializer,
    PolicyRequestSerializer,
    PolicyWishSerializer,
    ShadowSummarySerializer,
    TablePolicySerializer,
)
from lifecycle.domain.policy import Values, check_values
from lifecycle.domain.policy_states import RequestKind
from lifecycle.models import PolicyRequest
from lifecycle.selectors.findings import get_database_for_user
from lifecycle.selectors.policy import database_policy, policy_history, table_policy
from lifecycle.selectors.policy_requests import (
    REQUEST_ORDERS,
    RequestFilter,
    get_request_for_user,
    request_actions,
    requests_visible,
)
from lifecycle.selectors.shadow import TABLES_SHOWN, shadow_of, shadow_summary, shadow_tables
from lifecycle.selectors.what_if import ages_of, table_what_if
from lifecycle.services.path_waivers import WaiverWish, waiver_request
from lifecycle.services.policy_extensions import (
    ExtendWish,
    bounds,
    extension_offer,
    extension_request,
    put_off_from,
)
from lifecycle.services.policy_kinds import policy_look_request
from lifecycle.services.policy_requests import policy_request_decide, policy_request_withdraw
from lifecycle.services.policy_wishes import (
    HandOverWish,
    SetWish,
    hand_over_request,
    policy_set_request,
)
from lifecycle.services.why_look import why_look_request
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, RunSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame import current_lake, person

VALUES = [OpenApiParameter("level", int), OpenApiParameter("ttl", int)]


class TablePolicy(APIView):
    """A table's policy."""

    @extend_schema(
        operation_id="table_policy_get",
        responses=TablePolicySerializer,
        parameters=[*LAKE, *VALUES, OpenApiParameter("partition", str)],
    )
    def get(self, request: Request, db: str, table: str) -> Response:
        """Give what stands, who changed it, and what would go under `level` and `ttl`.

        `offer` is what keeping it some days more would mean: the table, or the `partition` named.
        """
        lake, now = current_lake(request), timezone.now()
        partition = request.query_params.get("partition", "")
        found, due_on = put_off_from(lake, (db, table, partition), user=person(request))
        standing = table_policy(found)
        what = table_what_if(
            found, ages_of(found), before=standing.values, after=_tried(request, standing.values)
        )
        days = bounds().offered_days
        shown = {
            "values": standing.values,
            "owner": standing.owner,
            "problem": standing.problem,
            "known_at": standing.known_at,
            "is_newer_than_scan": standing.is_newer_than_scan,
            "what_if": what.as_json() | {"as_of": what.as_of},
            "offer": extension_offer(found, partition, due_on, days=days, now=now),
            "history": policy_history(lake, db, table),
        }
        return Response(TablePolicySerializer(shown).data)


class DatabasePolicy(APIView):
    """What new tables of a database get."""

    @extend_schema(
        operation_id="database_policy_get", responses=DatabasePolicySerializer, parameters=LAKE
    )
    def get(self, request: Request, db: str) -> Response:
        """Give what was read last, and who changed it."""
        lake = current_lake(request)
        get_database_for_user(lake, db, user=person(request))
        standing = database_policy(lake, db)
        shown = {
            "values": standing.values,
            "problem": standing.problem,
            "known_at": standing.known_at,
            "history": policy_history(lake, db),
        }
        return Response(DatabasePolicySerializer(shown).data)


class DatabasePolicyLook(APIView):
    """Reading what new tables get."""

    @extend_schema(
        operation_id="database_policy_look",
        request=None,
        responses={202: RunSerializer},
        parameters=LAKE,
    )
    def post(self, request: Request, db: str) -> Response:
        """Have it read from the metastore (admins and operators)."""
        lake, user = current_lake(request), person(request)
        get_database_for_user(lake, db, user=user)
        if not user.is_lake_keeper:
            raise NotAllowed("policy.look", "Admins and operators have the metastore read.")
        run = policy_look_request(lake, db, user=user, now=timezone.now())
        return Response(RunSerializer(run).data, status=202)


class WhyLook(APIView):
    """Reading one partition's clocks."""

    @extend_schema(
        operation_id="why_look",
        request=None,
        responses={202: RunSerializer, 204: None},
        parameters=[*LAKE, OpenApiParameter("partition", str)],
    )
    def post(self, request: Request, db: str, table: str) -> Response:
        """Have the row of a partition brought whose range alone is kept; 204 if it is here."""
        name = (db, table, request.query_params.get("partition", ""))
        lake = current_lake(request)
        run = why_look_request(lake, name, user=person(request), now=timezone.now())
        return Response(RunSerializer(run).data, status=202) if run else Response(status=204)


class ShadowSummary(APIView):
    """What OBSERVE would have done in a database."""

    @extend_schema(
        operation_id="shadow_summary_get", responses=ShadowSummarySerializer, parameters=LAKE
    )
    def get(self, request: Request, db: str) -> Response:
        """Give the sums of the record, and the tables of which most was used again."""
        lake = current_lake(request)
        get_database_for_user(lake, db, user=person(request))
        summary = shadow_summary(shadow_of(lake, db))
        names = ("n_days", "since", "until", "n_gone", "n_bytes_gone", "n_written", "n_read")
        shown = {
            **{name: getattr(summary, name) for name in (*names, "n_used", "percent_used")},
            "tables": list(shadow_tables(lake, db, limit=TABLES_SHOWN)),
        }
        return Response(ShadowSummarySerializer(shown).data)


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
        """Give a request with the steps that you may take."""
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
            verdict=body.validated_data["verdict"],
            reason=body.validated_data["reason"],
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


def _tried(request: Request, standing: Values) -> Values:
    """Read the values that the address asks about."""
    level, ttl = (request.query_params.get(name, "") for name in ("level", "ttl"))
    if not level:
        return standing
    if not all(one.isascii() and one.isdigit() for one in (level, ttl or "0")):
        raise RuleViolation("policy.values", "LEVEL is 0 or 1, TTL a whole number of days.")
    wanted = Values(int(level), int(ttl) if ttl else None)
    check_values(wanted)
    return wanted
