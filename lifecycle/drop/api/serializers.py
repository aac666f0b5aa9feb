"""Serializers of drop plans, deletion requests, standing rules and backups."""

from typing import Any

from rest_framework import serializers

from lifecycle.backup.models import BackupBatch, BackupProbe
from lifecycle.core.api.names import PartitionField
from lifecycle.drop.domain.loss_words import NOT_RESTORED
from lifecycle.models import (
    BackupSlice,
    DeletionRequest,
    DropPlan,
    DropPlanResult,
    DropPlanTable,
    StandingRule,
)
from portal.ui.api.old_names import OldNames
from portal.ui.api.serializers import ReasonSerializer


class PlanSerializer(serializers.ModelSerializer[DropPlan]):
    """A plan as far as its reader may see it."""

    n_tables = serializers.IntegerField(source="seen_tables", read_only=True)
    n_items = serializers.IntegerField(source="seen_items", read_only=True)
    n_bytes = serializers.IntegerField(source="seen_bytes", read_only=True)

    class Meta:
        model = DropPlan
        fields: tuple[str, ...] = (
            *("id", "lake", "state", "source", "requested_by", "reason", "created_at"),
            *("n_tables", "n_items", "n_bytes", "digest", "ended_at", "ended_by"),
            "ended_reason",
        )
        read_only_fields = fields


class DecisionSerializer(OldNames, serializers.Serializer[Any]):
    """One person's decision."""

    old_names = {"verdict": "decision"}

    user = serializers.CharField(source="user.username", read_only=True)
    decision = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True)


class LossSerializer(serializers.Serializer[Any]):
    """What is lost, as far as its reader may see it."""

    n_tables = serializers.IntegerField(read_only=True)
    n_items = serializers.IntegerField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True)
    n_files = serializers.IntegerField(read_only=True)
    n_still_read = serializers.IntegerField(read_only=True)
    n_first = serializers.IntegerField(read_only=True)
    oldest_at = serializers.DateTimeField(read_only=True, allow_null=True)
    newest_at = serializers.DateTimeField(read_only=True, allow_null=True)
    is_part = serializers.BooleanField(read_only=True)


class LimitsSerializer(OldNames, serializers.Serializer[Any]):
    """The caps that the plan stands under now, and how many people it needs."""

    old_names = {
        "why": "reason",
    }

    max_items = serializers.IntegerField(source="caps.max_items", read_only=True)
    max_bytes = serializers.IntegerField(source="caps.max_bytes", read_only=True)
    max_percent = serializers.IntegerField(source="caps.max_percent", read_only=True)
    n_inventory = serializers.IntegerField(read_only=True)
    n_approvals = serializers.IntegerField(source="needed.n", read_only=True)
    reason = serializers.CharField(source="needed.reason", read_only=True)
    n_may_approve = serializers.IntegerField(read_only=True)


class PlanDetailSerializer(OldNames, serializers.Serializer[Any]):
    """One plan: what is lost, who decided, and which steps the server allows its reader now."""

    old_names = {"lapses_at": "expires_at"}

    id = serializers.UUIDField(read_only=True)
    lake = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)
    requested_by = serializers.CharField(read_only=True)
    requesters = serializers.ListField(child=serializers.CharField(), read_only=True)
    reason = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    digest = serializers.CharField(read_only=True)
    loss = LossSerializer(read_only=True)
    decisions = DecisionSerializer(many=True, read_only=True)
    n_needed = serializers.IntegerField(read_only=True, allow_null=True)
    limits = LimitsSerializer(
        read_only=True, allow_null=True, help_text="Only for who sees the whole plan."
    )
    expires_at = serializers.DateTimeField(read_only=True, allow_null=True)
    cool_until = serializers.DateTimeField(read_only=True, allow_null=True)
    left_out = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    transitions = serializers.ListField(child=serializers.CharField(), read_only=True)
    typed = serializers.CharField(
        read_only=True, help_text="What an approval must repeat; empty where it need not."
    )
    run = serializers.UUIDField(read_only=True, allow_null=True)
    not_restored = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="What no restore brings back, in sentences.",
    )
    outcome = serializers.DictField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    ended_by = serializers.CharField(read_only=True)
    ended_reason = serializers.CharField(read_only=True)


class PlanRequestSerializer(ReasonSerializer):
    """What to plan, and why."""

    databases = serializers.ListField(
        child=serializers.CharField(max_length=128), required=False, max_length=500
    )
    tables = serializers.ListField(
        child=serializers.CharField(max_length=257), required=False, max_length=500
    )


class PlanTableSerializer(serializers.ModelSerializer[DropPlanTable]):
    """A table's share of a plan."""

    class Meta:
        model = DropPlanTable
        fields = (
            *("db", "table", "kind", "owner", "n_items", "n_bytes", "n_files", "n_still_read"),
            *("oldest_at", "newest_at", "is_first_drop", "digest"),
        )
        read_only_fields = fields


class PlanResultSerializer(serializers.ModelSerializer[DropPlanResult]):
    """An item that was not dropped, and why."""

    class Meta:
        model = DropPlanResult
        fields = ("db", "table", "partition", "outcome", "reason")
        read_only_fields = fields


class ApproveSerializer(serializers.Serializer[None]):
    """The digest that was read; approval of anything else is refused."""

    digest = serializers.CharField(max_length=64)
    typed = serializers.CharField(
        max_length=257,
        required=False,
        allow_blank=True,
        help_text="The plan's `typed`, word for word; needed where that is not empty (a big plan).",
    )
    reason = serializers.CharField(max_length=1000, required=False, allow_blank=True)


class RejectSerializer(ReasonSerializer):
    """The digest that was read, and why not."""

    digest = serializers.CharField(max_length=64)


class DeletionRequestSerializer(OldNames, serializers.ModelSerializer[DeletionRequest]):
    """An owner's request to delete data now."""

    old_names = {"with_still_read": "with_recently_read"}

    class Meta:
        model = DeletionRequest
        fields = (
            *("id", "db", "table", "partition", "with_recently_read", "requested_by", "reason"),
            *("state", "plan", "created_at", "closed_at", "closed_by", "closed_reason"),
        )
        read_only_fields = fields


class DeletionRequestParamsSerializer(OldNames, ReasonSerializer):
    """What may be cleaned now, and why."""

    old_names = {"with_still_read": "with_recently_read"}

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256)
    partition = PartitionField(required=False, default="")
    with_recently_read = serializers.BooleanField(required=False, default=False)


class RuleSerializer(serializers.ModelSerializer[StandingRule]):
    """A standing rule."""

    class Meta:
        model = StandingRule
        fields = (
            *("id", "db", "table", "level", "ttl", "owner", "max_items_day", "max_bytes_day"),
            *("starts_on", "until", "state", "digest", "requested_by", "reason", "created_at"),
            *("ended_at", "ended_by", "last_note"),
        )
        read_only_fields = fields


class RuleRequestSerializer(ReasonSerializer):
    """What a standing rule should say."""

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256)
    max_items_day = serializers.IntegerField(min_value=1, max_value=10**9)
    max_bytes_day = serializers.IntegerField(min_value=1, max_value=10**18)
    until = serializers.DateField()


class BatchSerializer(OldNames, serializers.ModelSerializer[BackupBatch]):
    """A batch of items that were moved into the backup together."""

    old_names = {"purge_left_why": "purge_skipped_reason"}

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = BackupBatch
        fields: tuple[str, ...] = (
            *("id", "day", "db", "table", "table_owner", "batch", "state", "is_table"),
            *("n_items", "n_restored", "n_bytes", "n_files", "first_partition"),
            *(
                "last_partition",
                "dropped_at",
                "purge_after",
                "purge_tried_at",
                "purge_skipped_reason",
            ),
            *("purged_at", "seconds", "plan_id", "run_id"),
        )
        read_only_fields = fields


class ProbeSerializer(serializers.ModelSerializer[BackupProbe]):
    """One look at a batch after its drop; `details` are the items that were not as they should."""

    class Meta:
        model = BackupProbe
        fields = ("delay_seconds", "due_at", "state", "done_at", "n_late", "n_damaged", "details")
        read_only_fields = fields


class BatchDetailSerializer(BatchSerializer):
    """A batch with every look at it."""

    probes = ProbeSerializer(many=True, read_only=True)
    not_restored = serializers.SerializerMethodField(
        help_text="What no restore of it brings back, in sentences."
    )

    class Meta(BatchSerializer.Meta):
        fields = (*BatchSerializer.Meta.fields, "probes", "not_restored")
        read_only_fields = fields

    def get_not_restored(self, _batch: BackupBatch) -> list[str]:
        """Return the sentences that the pages show."""
        return list(NOT_RESTORED)


class BackupItemSerializer(serializers.ModelSerializer[BackupSlice]):
    """An item of a batch that was looked into."""

    class Meta:
        model = BackupSlice
        fields = ("partition", "source", "n_files", "n_bytes", "read_at")
        read_only_fields = fields


class RestoreToSerializer(serializers.Serializer[dict[str, object]]):
    """Another name to restore under, or (`into`) a table that stands already."""

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=128)
    into = serializers.BooleanField(required=False, default=False)


class RestoreRequestSerializer(ReasonSerializer):
    """What is to come back: a day, a table, batches, or partitions of them."""

    day = serializers.DateField(required=False)
    db = serializers.CharField(max_length=128, required=False)
    table = serializers.CharField(max_length=256, required=False)
    batches = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=2000)
    partitions = serializers.ListField(
        child=PartitionField(allow_blank=False), required=False, max_length=2000
    )
    straight_on = serializers.BooleanField(required=False, default=False)
    only_missing = serializers.BooleanField(required=False, default=False)
    to = RestoreToSerializer(required=False, allow_null=True, default=None)
