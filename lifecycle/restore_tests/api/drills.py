"""API that reads and starts restore tests, equivalent to their pages."""

from functools import partial
from typing import ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.models import DrillItem, RestoreDrill
from lifecycle.restore_tests.selectors import (
    DRILL_ORDERS,
    ITEM_ORDERS,
    DrillFilter,
    DrillItemFilter,
    count_for,
    databases_proven,
    drills_of,
    get_drill,
    items_visible,
)
from lifecycle.restore_tests.services.drills import drill_request
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class DrillSerializer(serializers.ModelSerializer[RestoreDrill]):
    """One restore drill."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = RestoreDrill
        fields: ClassVar = [
            *("id", "lake", "run_id", "state", "requested_by", "started_at", "finished_at"),
            *("n_items", "n_proven", "n_differing", "n_skipped", "n_bytes", "n_rows", "why"),
            "is_clean",
        ]
        read_only_fields = fields


class DrillItemSerializer(serializers.ModelSerializer[DrillItem]):
    """One item that a drill restored and compared."""

    differences = serializers.ListField(child=serializers.CharField(), read_only=True)
    remarks = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = DrillItem
        fields: ClassVar = [
            *("batch_id", "day", "db", "table", "table_owner", "partition", "format", "outcome"),
            *("n_files", "n_bytes", "n_rows", "content", "differences", "remarks", "checked_at"),
        ]
        read_only_fields = fields


class DatabaseProvenSerializer(serializers.Serializer[object]):
    """When restoring a database's backups was last proven."""

    db = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True)
    backed_up_since = serializers.DateField(read_only=True)
    proven_at = serializers.DateTimeField(read_only=True, allow_null=True)
    proven_by = serializers.UUIDField(read_only=True, allow_null=True)
    failed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    failed_by = serializers.UUIDField(read_only=True, allow_null=True)


class DrillStartSerializer(serializers.Serializer[object]):
    """Why a drill is started."""

    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)


class DrillList(APIView):
    """Restore drills."""

    @extend_schema(
        operation_id="drills_list",
        responses=page_of("Drill", DrillSerializer),
        parameters=list_parameters("state", "requested_by", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List the drills, newest first."""
        return keyset_response(
            request,
            drills_of(current_lake(request)),
            filter_class=DrillFilter,
            orders=DRILL_ORDERS,
            show=lambda row: dict(DrillSerializer(row).data),
            complete=partial(count_for, user=person(request)),
        )

    @extend_schema(
        operation_id="drills_start", request=DrillStartSerializer, responses={202: DrillSerializer}
    )
    def post(self, request: Request) -> Response:
        """Start a drill, or give the one that is under way (admins, operators)."""
        body = DrillStartSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        found = drill_request(
            current_lake(request),
            user=person(request),
            reason=body.validated_data["reason"],
            now=timezone.now(),
        )
        return Response(DrillSerializer(found).data, status=202)


class DrillDetail(APIView):
    """One drill."""

    @extend_schema(operation_id="drills_get", responses=DrillSerializer)
    def get(self, request: Request, drill_id: UUID) -> Response:
        """Return a drill; its counts are of what you may see."""
        found = get_drill(drill_id)
        count_for([found], user=person(request))
        return Response(DrillSerializer(found).data)


class DrillItems(APIView):
    """What a drill compared."""

    @extend_schema(
        operation_id="drills_items",
        responses=page_of("DrillItem", DrillItemSerializer),
        parameters=list_parameters("outcome", "db", "table"),
    )
    def get(self, request: Request, drill_id: UUID) -> Response:
        """List what a drill compared of what you answer for."""
        return keyset_response(
            request,
            items_visible(get_drill(drill_id), person(request)),
            filter_class=DrillItemFilter,
            orders=ITEM_ORDERS,
            show=lambda row: dict(DrillItemSerializer(row).data),
        )


class DrillDatabases(APIView):
    """The proofs of databases."""

    @extend_schema(operation_id="drills_databases", responses=DatabaseProvenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your databases with backups: when restoring was last proven, worst first."""
        found = databases_proven(current_lake(request), now=timezone.now(), user=person(request))
        return Response(DatabaseProvenSerializer(found, many=True).data)
