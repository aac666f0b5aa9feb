"""API of objects dropped by anyone and of policy alarms, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

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
from lifecycle.models import DroppedObject, PolicyEvent
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer


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


class PolicyEventSerializer(OldNames, serializers.ModelSerializer[PolicyEvent]):
    """A change of LEVEL or TTL, or a breach of the guard's rules."""

    old_names = {"closed_why": "closed_reason"}

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
            "closed_reason", "event_id",
        )  # fmt: skip
        read_only_fields = fields


class AlarmsCloseSerializer(ReasonSerializer):
    """Which alarms are closed, and why."""

    alarms = serializers.ListField(child=serializers.IntegerField(), max_length=500)


class AlarmsClosedSerializer(serializers.Serializer[Any]):
    """How many of them were open."""

    closed = serializers.IntegerField(read_only=True)


class DroppedList(KeysetList):
    """What anyone dropped."""

    operation_id = "dropped_list"
    serializer_class = DroppedSerializer
    filterset_class = DroppedFilterSet
    orders = DROPPED_ORDERS

    def get_queryset(self) -> Rows:
        """List what was dropped and you may see, newest first."""
        return dropped_visible(self.lake, self.user)


class DroppedDetail(ApiView):
    """One dropped object."""

    @operation("dropped_get", answer=DroppedDetailSerializer, parameters=LAKE)
    def get(self, dropped_id: UUID) -> object:
        """Return all that is kept of a dropped object."""
        return get_dropped_for_user(self.lake, dropped_id, user=self.user)


class PolicyEventList(KeysetList):
    """Policy events."""

    operation_id = "policy_events_list"
    serializer_class = PolicyEventSerializer
    filterset_class = PolicyFilterSet
    orders = POLICY_ORDERS

    def get_queryset(self) -> Rows:
        """List changes of LEVEL and TTL and breaches of the guard's rules, newest first."""
        return policy_events_visible(self.lake, self.user)


class PolicyAlarmsClose(ApiView):
    """Closing policy alarms."""

    @operation(
        "policy_alarms_close",
        body=AlarmsCloseSerializer,
        answer=AlarmsClosedSerializer,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Close open alarms with a reason (admins)."""
        data = self.data
        n_closed = policy_alarms_close(
            self.lake, data["alarms"], reason=data["reason"], user=self.user, now=timezone.now()
        )
        return {"closed": n_closed}
