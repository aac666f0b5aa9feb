"""Serializers of expected partitions and of declarations."""

from typing import Any, ClassVar

from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from portal.ui.api.serializers import LakeField
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.models import KEY_LENGTH
from quality.freshness.services.declaring import LONGEST_MINUTES, MOST_SOURCES, Declared
from quality.freshness.services.sources import named_once
from quality.models import ExpectedPartition, FreshnessRule


class ExpectedPartitionSerializer(serializers.ModelSerializer[ExpectedPartition]):
    """One day or hour of a table."""

    table = serializers.CharField(source="rule.__str__")
    owner = serializers.CharField(source="rule.owner")
    late_seconds = serializers.FloatField(allow_null=True)
    waiting_since = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = ExpectedPartition
        fields: ClassVar = [
            "lake", "table", "owner", "spec", "start", "end", "standing", "due_at", "ready_at",
            "ready_by", "late_seconds", "waiting_since", "reason", "is_held", "is_given_up",
        ]  # fmt: skip


class ReadyRuleSerializer(OldNames, serializers.ModelSerializer[FreshnessRule]):
    """What is declared of one table."""

    old_names = {"looked_at": "inspected_at"}

    table = serializers.CharField(source="__str__")
    source_tables = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = FreshnessRule
        fields: ClassVar = [
            "id", "lake", "table", "owner", "time_key", "time_format", "hour_key", "sla_minutes",
            "delay_minutes", "min_rows", "min_files", "source_tables", "version", "set_by",
            "set_at", "inspected_at", "look_at", "problem",
        ]  # fmt: skip


def _minutes(help_text: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        default=None, allow_null=True, min_value=0, max_value=LONGEST_MINUTES, help_text=help_text
    )


def _least(help_text: str, most: int) -> serializers.IntegerField:
    return serializers.IntegerField(
        default=None, allow_null=True, min_value=1, max_value=most, help_text=help_text
    )


class DeclareSerializer(serializers.Serializer[Any]):
    """What to declare; null asks nothing."""

    time_key = serializers.CharField(max_length=KEY_LENGTH)
    time_format = serializers.ChoiceField(choices=[one.value for one in TimeFormat])
    hour_key = serializers.CharField(default="", allow_blank=True, max_length=KEY_LENGTH)
    sla_minutes = _minutes("ready so long after the period's end at the latest")
    delay_minutes = _minutes("ready by rule so long after the period's end")
    min_rows = _least("numRows of the period's partitions together", 10**15)
    min_files = _least("numFiles of the period's partitions together", 10**9)
    source_tables = serializers.ListField(
        child=serializers.CharField(max_length=512),
        default=list,
        max_length=MOST_SOURCES,
        help_text="db.table of captured tables, applied up to the period's end and the delay",
    )
    version = serializers.IntegerField(
        default=None, allow_null=True, min_value=0, help_text="as read; null where it is new"
    )


class EndSerializer(serializers.Serializer[Any]):
    """What is ended."""

    version = serializers.IntegerField(min_value=0, help_text="as read")


class NewReadyRuleSerializer(DeclareSerializer):
    """The same of a table that is named."""

    lake = LakeField()
    table = serializers.CharField(max_length=512, help_text="db.table")


def declared(data: dict[str, Any]) -> Declared:
    """Return what a program declares."""
    return Declared(
        data["time_key"].lower(),
        TimeFormat(data["time_format"]),
        data["hour_key"].lower(),
        data["sla_minutes"],
        data["delay_minutes"],
        data["min_rows"],
        data["min_files"],
        named_once(data["source_tables"]),
    )
