"""Serializers of tables, the queue and statements."""

from typing import Any

from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from refresh.core.api import ADDRESS
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.freshness.services.actions import MOST_NAMED
from refresh.models import ChangedPartition, RefreshTarget, TableSweep, TargetFrontEnd, TargetProbe

LONGEST_NAME = 767


class OnFrontEndSerializer(OldNames, serializers.ModelSerializer[TargetFrontEnd]):
    """How a table is on one front end."""

    old_names = {
        "why": "reason",
    }

    front_end = serializers.CharField(source="fe.place", read_only=True, help_text=ADDRESS)
    freshness = serializers.ChoiceField(
        source="now.freshness", choices=[one.value for one in Freshness], read_only=True
    )
    danger = serializers.ChoiceField(
        source="now.danger", choices=[one.value for one in Danger], read_only=True
    )
    reason = serializers.CharField(source="now.reason", read_only=True)

    class Meta:
        model = TargetFrontEnd
        fields: tuple[str, ...] = ("front_end", "freshness", "danger", "reason")
        read_only_fields = fields


class OnFrontEndDetailSerializer(OnFrontEndSerializer):
    """The same with what was tried and probed."""

    old_names = OnFrontEndSerializer.old_names | {
        "disproof_at": "diverged_at",
        "disproof_why": "divergence_reason",
        "behind_since": "stale_since",
    }

    stale_since = serializers.DateTimeField(
        source="now.stale_since", read_only=True, allow_null=True
    )

    class Meta(OnFrontEndSerializer.Meta):
        fields: tuple[str, ...] = (
            *OnFrontEndSerializer.Meta.fields,
            *("stale_since", "done_at", "n_tries", "problem"),
            *("probed_at", "probe_problem", "diverged_at", "divergence_reason"),
        )
        read_only_fields = fields


class WaitingSerializer(serializers.ModelSerializer[RefreshTarget]):
    """A table with its place in the queue."""

    cluster = serializers.CharField(source="cluster.name", read_only=True)
    lake = serializers.CharField(source="watched.lake", read_only=True)
    hive_table = serializers.CharField(source="watched.__str__", read_only=True)
    lane = serializers.CharField(
        source="get_lane_display",
        read_only=True,
        allow_null=True,
        help_text="FAST, SLOW or GIANT; null while nothing is planned.",
    )
    running_on = serializers.CharField(
        source="running_on_address", read_only=True, help_text=ADDRESS
    )
    only_on = serializers.CharField(source="only_on_address", read_only=True, help_text=ADDRESS)

    class Meta:
        model = RefreshTarget
        fields: tuple[str, ...] = (
            *("id", "cluster", "catalog", "db", "table", "lake", "hive_table"),
            *("due_at", "waits_since", "is_urgent", "lane", "only_on", "expected_seconds"),
            *("not_before", "n_tries", "running_since", "running_on", "problem"),
        )
        read_only_fields = fields


class TargetSerializer(OldNames, WaitingSerializer):
    """A table of a cluster: how it stands, and its place in the queue."""

    old_names = {"why": "reason", "behind_since": "stale_since", "is_off": "is_opted_out"}

    owner = serializers.CharField(source="watched.owner", read_only=True)
    is_opted_out = serializers.BooleanField(source="watched.is_opted_out", read_only=True)
    front_ends = OnFrontEndSerializer(source="on_fes", many=True, read_only=True)

    class Meta(WaitingSerializer.Meta):
        fields: tuple[str, ...] = (
            *WaitingSerializer.Meta.fields,
            *(
                "owner",
                "freshness",
                "danger",
                "reason",
                "stale_since",
                "refreshed_at",
                "is_opted_out",
            ),
            "front_ends",
        )
        read_only_fields = fields


class SweepSerializer(OldNames, serializers.ModelSerializer[TableSweep]):
    """The last check at a table's files; `problem` says why nothing could be concluded."""

    old_names = {"looked_at": "inspected_at"}

    class Meta:
        model = TableSweep
        fields = ("inspected_at", "seen_at", "problem")
        read_only_fields = fields


class TargetProbeSerializer(serializers.ModelSerializer[TargetProbe]):
    """The last probe of a table's front ends; `problem` says why nothing could be concluded."""

    class Meta:
        model = TargetProbe
        fields = ("probed_at", "problem")
        read_only_fields = fields


class TargetDetailSerializer(TargetSerializer):
    """A table with every front end, what is owed of it, and who opted it out."""

    old_names = TargetSerializer.old_names | {
        "known_since": "tracked_since",
        "off_at": "opted_out_at",
        "off_by": "opted_out_by",
        "off_why": "opted_out_reason",
        "whole_at": "table_changed_at",
    }

    front_ends = OnFrontEndDetailSerializer(source="each_fe", many=True, read_only=True)
    tracked_since = serializers.DateTimeField(source="watched.tracked_since", read_only=True)
    changed_at = serializers.DateTimeField(source="watched.changed_at", read_only=True)
    table_changed_at = serializers.DateTimeField(
        source="watched.table_changed_at",
        read_only=True,
        allow_null=True,
        help_text="When the table as a whole changed last, while a front end has not loaded it.",
    )
    n_partitions = serializers.IntegerField(
        source="watched.n_partitions", read_only=True, allow_null=True
    )
    sweep = SweepSerializer(source="checks.sweep", read_only=True, allow_null=True)
    probe = TargetProbeSerializer(source="checks.probe", read_only=True, allow_null=True)
    opted_out_by = serializers.CharField(source="watched.opted_out_by", read_only=True)
    opted_out_at = serializers.DateTimeField(
        source="watched.opted_out_at", read_only=True, allow_null=True
    )
    opted_out_reason = serializers.CharField(source="watched.opted_out_reason", read_only=True)

    class Meta(TargetSerializer.Meta):
        fields: tuple[str, ...] = (
            *TargetSerializer.Meta.fields,
            *("tracked_since", "changed_at", "table_changed_at", "n_partitions", "sweep", "probe"),
            *("opted_out_by", "opted_out_at", "opted_out_reason"),
        )
        read_only_fields = fields


class PendingChangeSerializer(serializers.ModelSerializer[ChangedPartition]):
    """The last change of a partition that some front end owes."""

    class Meta:
        model = ChangedPartition
        fields = ("name", "at", "touch")
        read_only_fields = fields


class AskSerializer(serializers.Serializer[Any]):
    """Which partitions changed, by their full names; none for the whole table."""

    partitions = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_NAME, trim_whitespace=False),
        max_length=MOST_NAMED,
        required=False,
        default=list,
    )


class RepairSerializer(serializers.Serializer[Any]):
    """Because of which front end the table is refreshed again."""

    front_end = serializers.CharField(max_length=256, help_text=ADDRESS)
