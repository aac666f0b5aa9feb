"""API of fix plans for nonconforming paths, equivalent to the pages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.inventory.api.findings import LAKE
from lifecycle.models import PathFinding, PathFix, PathFixItem
from lifecycle.policies.api.serializers import AnswerSerializer
from lifecycle.relocation.selectors import (
    CANDIDATE_ORDERS,
    FIX_ITEM_ORDERS,
    FIX_ORDERS,
    FixCandidateFilter,
    PathFixFilter,
    PathFixItemFilter,
    fix_actions,
    fix_candidates,
    fix_items,
    fixes_visible,
    get_fix_for_user,
)
from lifecycle.relocation.services.plans import (
    fix_decide,
    fix_request,
    fix_undo_request,
    fix_withdraw,
)
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class PathFixSerializer(serializers.ModelSerializer[PathFix]):
    """A fix plan as a list shows it."""

    what = serializers.CharField(read_only=True)

    class Meta:
        model = PathFix
        fields: tuple[str, ...] = (
            *("id", "state", "what", "undo_of", "n_items", "n_left_out", "n_bytes", "n_files"),
            *("digest", "requested_by", "requesters", "reason", "created_at", "run", "ended_at"),
            *("ended_by", "ended_reason"),
        )
        read_only_fields = fields


class PathFixDetailSerializer(PathFixSerializer):
    """One fix plan with the steps the server allows its reader."""

    transitions = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(PathFixSerializer.Meta):
        fields = (*PathFixSerializer.Meta.fields, "transitions")
        read_only_fields = fields


class PathFixItemSerializer(serializers.ModelSerializer[PathFixItem]):
    """One path of a fix plan: from where to where, or why not."""

    class Meta:
        model = PathFixItem
        fields = (
            *("kind", "db", "table", "partition", "owner", "reasons", "source", "target"),
            *("n_files", "n_bytes", "n_partitions", "state", "why", "note"),
        )
        read_only_fields = fields


class FixCandidateSerializer(serializers.ModelSerializer[PathFinding]):
    """A nonconforming path that may be asked for; `id` holds until the next scan."""

    class Meta:
        model = PathFinding
        fields = ("id", "kind", "db", "table", "partition", "owner", "location", "reasons", "hint")
        read_only_fields = fields


class FixWishSerializer(ReasonSerializer):
    """Which nonconforming paths shall be put right, by the ids of `candidates`."""

    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**53), allow_empty=False
    )


class PathFixList(APIView):
    """Fix plans."""

    @extend_schema(
        operation_id="path_fixes_list",
        responses=page_of("PathFix", PathFixSerializer),
        parameters=list_parameters("state", "requested_by"),
    )
    def get(self, request: Request) -> Response:
        """List the fix plans that you may see."""
        return keyset_response(
            request,
            fixes_visible(current_lake(request), person(request)),
            filter_class=PathFixFilter,
            orders=FIX_ORDERS,
            show=lambda row: dict(PathFixSerializer(row).data),
        )

    @extend_schema(
        operation_id="path_fixes_create",
        request=FixWishSerializer,
        responses={201: PathFixDetailSerializer},
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Have a fix plan drawn up for nonconforming paths (admins and operators)."""
        body = FixWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        user, now = person(request), timezone.now()
        lake = current_lake(request)
        made = fix_request(lake, said["rows"], reason=said["reason"], user=user, now=now)
        return Response(_detail(made, user, now), status=201)


class PathFixCandidates(APIView):
    """Nonconforming paths that may be asked for."""

    @extend_schema(
        operation_id="path_fixes_candidates",
        responses=page_of("FixCandidate", FixCandidateSerializer),
        parameters=list_parameters("db", "table", "owner"),
    )
    def get(self, request: Request) -> Response:
        """List nonconforming tables and partitions in databases in ACT mode."""
        return keyset_response(
            request,
            fix_candidates(current_lake(request), person(request)),
            filter_class=FixCandidateFilter,
            orders=CANDIDATE_ORDERS,
            show=lambda row: dict(FixCandidateSerializer(row).data),
        )


class PathFixDetail(APIView):
    """One fix plan."""

    @extend_schema(operation_id="path_fixes_get", responses=PathFixDetailSerializer)
    def get(self, request: Request, fix_id: UUID) -> Response:
        """Return a fix plan with the steps that you may take."""
        user = person(request)
        return Response(_detail(get_fix_for_user(fix_id, user=user), user, timezone.now()))


class PathFixItems(APIView):
    """The paths of a fix plan."""

    @extend_schema(
        operation_id="path_fix_items_list",
        responses=page_of("PathFixItem", PathFixItemSerializer),
        parameters=list_parameters("state", "db", "table"),
    )
    def get(self, request: Request, fix_id: UUID) -> Response:
        """List its paths that you may see: from where to where, and what became of each."""
        user = person(request)
        return keyset_response(
            request,
            fix_items(get_fix_for_user(fix_id, user=user), user),
            filter_class=PathFixItemFilter,
            orders=FIX_ITEM_ORDERS,
            show=lambda row: dict(PathFixItemSerializer(row).data),
        )


class PathFixDecide(APIView):
    """Deciding on a fix plan."""

    @extend_schema(
        operation_id="path_fixes_decide",
        request=AnswerSerializer,
        responses=PathFixDetailSerializer,
    )
    def post(self, request: Request, fix_id: UUID) -> Response:
        """Approve or reject exactly what has the digest that you read."""
        body = AnswerSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user, now = person(request), timezone.now()
        found = fix_decide(
            fix_id,
            user=user,
            word=SaidWord(**body.validated_data),
            authenticated_at=authenticated_at(request._request),
            now=now,
        )
        return Response(_detail(found, user, now))


class PathFixWithdraw(APIView):
    """Taking a fix plan back before it is decided."""

    @extend_schema(
        operation_id="path_fixes_withdraw",
        request=ReasonSerializer,
        responses=PathFixDetailSerializer,
    )
    def post(self, request: Request, fix_id: UUID) -> Response:
        """Withdraw your fix plan before anybody decided."""
        user, now = person(request), timezone.now()
        found = fix_withdraw(fix_id, user=user, reason=said_reason(request), now=now)
        return Response(_detail(found, user, now))


class PathFixUndo(APIView):
    """Taking back what a fix plan moved."""

    @extend_schema(
        operation_id="path_fixes_undo",
        request=ReasonSerializer,
        responses={201: PathFixDetailSerializer},
    )
    def post(self, request: Request, fix_id: UUID) -> Response:
        """Have a plan drawn up that moves everything back (admins); approved as the fix was."""
        user, now = person(request), timezone.now()
        undo = fix_undo_request(fix_id, user=user, reason=said_reason(request), now=now)
        return Response(_detail(undo, user, now), status=201)


def _detail(found: PathFix, user: User, now: datetime) -> dict[str, Any]:
    shown: Any = found
    shown.transitions = fix_actions(found, user, now=now).names
    return dict(PathFixDetailSerializer(shown).data)
