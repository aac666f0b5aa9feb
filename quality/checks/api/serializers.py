"""Serializers of check sets, their results, and what was measured."""

from typing import Any, ClassVar

from rest_framework import serializers

from quality.checks.domain.documents import LARGEST_DOCUMENT
from quality.checks.models import EVERY_MINUTES, WINDOW_LENGTH
from quality.checks.services.declaring import LEAST_MINUTES, MOST_MINUTES
from quality.checks.services.requests import MOST_WINDOWS
from quality.models import CheckSet, Measurement, Override, RuleResult


class CheckSetSerializer(serializers.ModelSerializer[CheckSet]):
    """The rules of one table."""

    table = serializers.CharField(source="__str__")
    document = serializers.JSONField(help_text="the rules, as read from YAML")

    class Meta:
        model = CheckSet
        fields: ClassVar = [
            "id", "lake", "table", "owner", "document", "every_minutes", "is_paused", "version",
            "set_by", "set_at", "measured_at", "next_at", "problem",
        ]  # fmt: skip


class SetChecksSerializer(serializers.Serializer[Any]):
    """What is set of a table that the document names."""

    lake = serializers.CharField(max_length=32)
    document = serializers.CharField(max_length=LARGEST_DOCUMENT, help_text="YAML")
    every_minutes = serializers.IntegerField(
        default=EVERY_MINUTES, min_value=LEAST_MINUTES, max_value=MOST_MINUTES
    )
    version = serializers.IntegerField(
        default=None, allow_null=True, min_value=0, help_text="as you read it; null: it is new"
    )


class ChecksVersionSerializer(serializers.Serializer[Any]):
    """The version that was read."""

    version = serializers.IntegerField(min_value=0)


class RunChecksSerializer(serializers.Serializer[Any]):
    """Which windows are measured."""

    windows = serializers.ListField(
        child=serializers.CharField(max_length=WINDOW_LENGTH),
        default=list,
        max_length=MOST_WINDOWS,
        help_text="values of the partition key; none: those that are due",
    )


class PauseChecksSerializer(serializers.Serializer[Any]):
    """Whether a table is measured on schedule."""

    paused = serializers.BooleanField()


class RuleOverrideSerializer(serializers.ModelSerializer[Override]):
    """Who overridden a result, and why."""

    class Meta:
        model = Override
        fields: ClassVar = ["reason", "asked_by", "asked_at", "confirmed_by", "confirmed_at"]


class RuleResultSerializer(serializers.ModelSerializer[RuleResult]):
    """What a rule says of a window."""

    override = RuleOverrideSerializer(allow_null=True, default=None, read_only=True)

    class Meta:
        model = RuleResult
        fields: ClassVar = [
            "id", "rule", "window", "severity", "outcome", "text", "value", "low", "high",
            "judged_at", "override",
        ]  # fmt: skip


class MeasurementSerializer(serializers.ModelSerializer[Measurement]):
    """One metric of one window."""

    class Meta:
        model = Measurement
        fields: ClassVar = ["metric", "window", "day", "value", "reason", "detail", "measured_at"]
