"""API of objects dropped by anyone and of policy alarms, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.guard.selectors import (
    DROPPED_ORDERS,
    POLICY_ORDERS,
    DroppedFilterSet,
    PolicyFilterSet,
    dropped_visible,
    get_dropped_for_user,
    policy_events_visible,
)
from lifecycle.guard.services.alarms import policy_alarms_close
from lifecycle.inventory.api.findings import LAKE, lake_of, person
from lifecycle.models import DroppedObject, PolicyEvent
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of
from portal.ui.api.views import list_parameters


class DroppedSerializer(serializers.ModelSerializer[DroppedObject]):
    """A table, view or database as it was when it was dropped."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = DroppedObject
        fields: tuple[str, ...] = (
            "id", "db", "table", "table_type", "dropped_at", "dropped_by", "owner", "db_owner",
            "n_partitions", "n_columns", "location", "delete_data", "with_database", "event_id",
        )  # fmt: skip
        read_only_fields = fields


class DroppedDetailSerializer(DroppedSerializer):
    """The same with the whole Thrift object as Hive's own JSON; empty if it was too large."""

    class Meta(DroppedSerializer.Meta):
        fields: tuple[str, ...] = (*DroppedSerializer.Meta.fields, "struct")
        read_only_fields = fields


class PolicyEventSerializer(serializers.ModelSerializer[PolicyEvent]):
    """A change of LEVEL or TTL, or a breach of the guard's rules."""

    rules = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), read_only=True
    )
    before = serializers.DictField(child=serializers.CharField(), read_only=True, allow_null=True)
    after = serializers.DictField(child=serializers.CharField(), read_only=True, allow_null=True)

    class Meta:
        model = PolicyEvent
        fields = (
            "id", "db", "table", "at", "operation", "outcome", "actor", "owner", "db_owner",
            "before", "after", "new_name", "rules", "is_alarm", "closed_by", "closed_at",
            "closed_why", "event_id",
        )  # fmt: skip
        read_only_fields = fields


class AlarmsCloseSerializer(ReasonSerializer):
    """Which alarms are closed, and why."""

    alarms = serializers.ListField(child=serializers.IntegerField(), max_length=500)


class AlarmsClosedSerializer(serializers.Serializer[Any]):
    """How many of them were open."""

    closed = serializers.IntegerField(read_only=True)


class DroppedList(APIView):
    """What anyone dropped."""

    @extend_schema(
        operation_id="dropped_list",
        responses=page_of("Dropped", DroppedSerializer),
        parameters=list_parameters("db", "table", "what", "by", "owner", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List what was dropped and you may see, newest first."""
        return keyset_response(
            request,
            dropped_visible(lake_of(request), person(request)),
            filter_class=DroppedFilterSet,
            orders=DROPPED_ORDERS,
            show=lambda row: dict(DroppedSerializer(row).data),
        )


class DroppedDetail(APIView):
    """One dropped object."""

    @extend_schema(operation_id="dropped_get", responses=DroppedDetailSerializer, parameters=LAKE)
    def get(self, request: Request, dropped_id: UUID) -> Response:
        """Return all that is kept of a dropped object."""
        row = get_dropped_for_user(lake_of(request), dropped_id, user=person(request))
        return Response(DroppedDetailSerializer(row).data)


class PolicyEventList(APIView):
    """Policy events."""

    @extend_schema(
        operation_id="policy_events_list",
        responses=page_of("PolicyEvent", PolicyEventSerializer),
        parameters=list_parameters("open", "outcome", "db", "table", "actor", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List changes of LEVEL and TTL and breaches of the guard's rules, newest first."""
        return keyset_response(
            request,
            policy_events_visible(lake_of(request), person(request)),
            filter_class=PolicyFilterSet,
            orders=POLICY_ORDERS,
            show=lambda row: dict(PolicyEventSerializer(row).data),
        )


class PolicyAlarmsClose(APIView):
    """Closing policy alarms."""

    @extend_schema(
        operation_id="policy_alarms_close",
        request=AlarmsCloseSerializer,
        responses=AlarmsClosedSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Close open alarms with a reason (admins)."""
        body = AlarmsCloseSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        n_closed = policy_alarms_close(
            lake_of(request),
            said["alarms"],
            why=said["reason"],
            user=person(request),
            now=timezone.now(),
        )
        return Response({"closed": n_closed})
