"""API of removal lists, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.models import Quarantine, RemovalPlan
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.selectors import (
    REMOVAL_ORDERS,
    RemovalFilter,
    get_removal_for_user,
    quarantine_of,
    removal_steps,
    removals_visible,
)
from optimizer.removals.services.removals import removal_decide, removal_withdraw
from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class RemovalPlanSerializer(serializers.ModelSerializer[RemovalPlan]):
    """A list of what would be removed from a table, and what came of it."""

    table_format = serializers.CharField(read_only=True, help_text="of its table: iceberg or hudi")
    table_id = serializers.IntegerField(read_only=True, allow_null=True)
    hudi_id = serializers.IntegerField(read_only=True, allow_null=True)
    db = serializers.CharField(source="subject.db", read_only=True)
    table = serializers.CharField(source="subject.table", read_only=True)
    state = serializers.CharField(
        read_only=True, help_text=", ".join(one.value for one in RemovalState)
    )

    class Meta:
        model = RemovalPlan
        fields: tuple[str, ...] = (
            *("id", "table_format", "table_id", "hudi_id", "db", "table", "kind", "state"),
            *("digest", "snapshot_id"),
            *("n_items", "n_files", "n_bytes", "reason", "requesters", "created_at", "run"),
            *("ended_at", "ended_by", "outcome", "removed"),
        )
        read_only_fields = fields


class QuarantineSerializer(serializers.ModelSerializer[Quarantine]):
    """The files of a list that lie in quarantine beside their table."""

    state = serializers.CharField(
        read_only=True, help_text=", ".join(one.value for one in QuarantineState)
    )

    class Meta:
        model = Quarantine
        fields: tuple[str, ...] = (
            *("directory", "state", "n_files", "n_bytes", "moved_at", "delete_after", "run"),
            *("reason", "ended_at", "ended_by"),
        )
        read_only_fields = fields


class RemovalPlanDetailSerializer(RemovalPlanSerializer):
    """A list with its counts by kind, its first names, and the steps that you may take."""

    steps = serializers.ListField(child=serializers.CharField(), read_only=True)
    quarantine = QuarantineSerializer(read_only=True, allow_null=True, source="aside")

    class Meta(RemovalPlanSerializer.Meta):
        fields: tuple[str, ...] = (
            *RemovalPlanSerializer.Meta.fields,
            "facts",
            "steps",
            "quarantine",
        )
        read_only_fields = fields


class RemovalWordSerializer(serializers.Serializer[Any]):
    """One person's word on exactly what has this digest."""

    verdict = serializers.CharField(max_length=8, help_text="APPROVE or REJECT")
    reason = serializers.CharField(max_length=1000, allow_blank=True, default="")
    digest = serializers.CharField(max_length=64)


class RemovalList(APIView):
    """Lists of what would be removed."""

    @extend_schema(
        operation_id="optimizer_removals_list",
        responses=page_of("OptimizerRemoval", RemovalPlanSerializer),
        parameters=list_parameters("state", "kind", "table_format", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List what was proposed for the tables that you may see, the newest first."""
        return keyset_response(
            request,
            removals_visible(current_lake(request), person(request)),
            filter_class=RemovalFilter,
            orders=REMOVAL_ORDERS,
            show=lambda row: dict(RemovalPlanSerializer(row).data),
        )


class RemovalDetail(APIView):
    """One list."""

    @extend_schema(operation_id="optimizer_removals_get", responses=RemovalPlanDetailSerializer)
    def get(self, request: Request, removal_id: UUID) -> Response:
        """Return a list with its counts, its first names, and the steps that you may take."""
        user = person(request)
        return removal_response(get_removal_for_user(removal_id, user=user), user)


class RemovalDecide(APIView):
    """Deciding on a list."""

    @extend_schema(
        operation_id="optimizer_removals_decide",
        request=RemovalWordSerializer,
        responses=RemovalPlanDetailSerializer,
    )
    def post(self, request: Request, removal_id: UUID) -> Response:
        """Approve or reject exactly what has the digest that you read (admins)."""
        body = RemovalWordSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = person(request)
        found = removal_decide(
            removal_id,
            user=user,
            word=SaidWord(**body.validated_data),
            authenticated_at=authenticated_at(request._request),
            now=timezone.now(),
        )
        return removal_response(found, user)


class RemovalWithdraw(APIView):
    """Taking a list back before it is decided."""

    @extend_schema(
        operation_id="optimizer_removals_withdraw",
        request=ReasonSerializer,
        responses=RemovalPlanDetailSerializer,
    )
    def post(self, request: Request, removal_id: UUID) -> Response:
        """Withdraw what you asked for before anybody decided."""
        user, reason = person(request), said_reason(request)
        found = removal_withdraw(removal_id, user=user, reason=reason, now=timezone.now())
        return removal_response(found, user)


def removal_response(found: RemovalPlan, user: User) -> Response:
    """Return a list with its counts, its first names, and the steps that a person may take."""
    shown: Any = found
    shown.aside = quarantine_of(found)
    shown.steps = removal_steps(found, user, now=timezone.now()).names
    return Response(RemovalPlanDetailSerializer(shown).data)
