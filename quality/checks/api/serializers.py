"""Serializers of check sets, their results, and what was measured."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.catalog.models import Table
from quality.checks.domain.documents import LARGEST_DOCUMENT
from quality.checks.models import EVERY_MINUTES, WINDOW_LENGTH
from quality.checks.services.declaring import LEAST_MINUTES, MOST_MINUTES
from quality.checks.services.requests import MOST_WINDOWS
from quality.checks.services.trials import trial_result
from quality.models import CheckSet, CheckTrial, Measurement, Override, RuleResult, RuleSample


class CheckSetSerializer(serializers.ModelSerializer[CheckSet]):
    """The rules of one table."""

    table = serializers.CharField(source="__str__")
    document = serializers.JSONField(help_text="the rules, as read from YAML")

    class Meta:
        model = CheckSet
        fields: ClassVar = [
            "id", "lake", "table", "owner", "document", "every_minutes", "on_commit", "is_paused",
            "version",
            "set_by", "set_at", "measured_at", "next_at", "problem", "commit", "how_read",
        ]  # fmt: skip


class SetChecksSerializer(serializers.Serializer[Any]):
    """What is set of a table that the document names."""

    lake = serializers.CharField(max_length=32)
    document = serializers.CharField(max_length=LARGEST_DOCUMENT, help_text="YAML")
    every_minutes = serializers.IntegerField(
        default=EVERY_MINUTES, min_value=LEAST_MINUTES, max_value=MOST_MINUTES
    )
    on_commit = serializers.BooleanField(default=False, help_text="also soon after a commit")
    version = serializers.IntegerField(
        default=None, allow_null=True, min_value=0, help_text="as you read it; null: it is new"
    )


class ChecksDraftSerializer(serializers.Serializer[Any]):
    """A draft of the checks of the table that it names."""

    lake = serializers.CharField(max_length=32)
    document = serializers.CharField(max_length=LARGEST_DOCUMENT, help_text="YAML")


class TriedWindowSerializer(serializers.Serializer[Any]):
    """A past window on which a rule would have failed."""

    window = serializers.CharField(source="label", read_only=True)
    value = serializers.FloatField(source="verdict.value", read_only=True, allow_null=True)
    low = serializers.FloatField(source="verdict.low", read_only=True, allow_null=True)
    high = serializers.FloatField(source="verdict.high", read_only=True, allow_null=True)
    text = serializers.CharField(source="verdict.text", read_only=True)


class TriedRuleSerializer(serializers.Serializer[Any]):
    """What a draft's rule says of past windows."""

    rule = serializers.CharField(source="rule.name", read_only=True)
    metric = serializers.CharField(source="rule.measured.key", read_only=True)
    n_windows = serializers.IntegerField(read_only=True)
    n_unknown = serializers.IntegerField(read_only=True)
    failed = TriedWindowSerializer(source="fired", many=True, read_only=True)


class TriedChecksSerializer(serializers.Serializer[Any]):
    """What a draft says of past windows; nothing is saved."""

    n_failed = serializers.IntegerField(source="n_fired", read_only=True)
    unmeasured = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="metrics of which nothing was measured",
    )
    rules = TriedRuleSerializer(source="tried", many=True, read_only=True)


class CheckTrialSerializer(serializers.ModelSerializer[CheckTrial]):
    """A draft whose metrics are measured on past windows."""

    table = serializers.CharField(source="__str__")
    run = serializers.UUIDField(source="run_id", allow_null=True)
    found = serializers.SerializerMethodField(help_text="what it says of past windows")

    class Meta:
        model = CheckTrial
        fields: ClassVar = [
            "id", "lake", "table", "document", "asked_by", "asked_at", "run", "measured_at",
            "problem", "found",
        ]  # fmt: skip

    @extend_schema_field(TriedChecksSerializer)
    def get_found(self, row: CheckTrial) -> Any:
        """Return what the draft says, for the person who asks."""
        user, now = self.context["user"], self.context["now"]
        return TriedChecksSerializer(trial_result(row, user=user, now=now)).data


class ImportSodaSerializer(serializers.Serializer[Any]):
    """Checks in Soda's form."""

    soda = serializers.CharField(max_length=LARGEST_DOCUMENT, help_text="SodaCL of one table")
    db = serializers.CharField(
        max_length=128, default="", allow_blank=True, help_text="where the checks name no database"
    )
    partition_key = serializers.CharField(max_length=128, default="", allow_blank=True)


class RefusedCheckSerializer(serializers.Serializer[Any]):
    """A check of Soda's that does not fit."""

    line = serializers.IntegerField(read_only=True)
    check = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)


class ImportedChecksSerializer(serializers.Serializer[Any]):
    """What checks of Soda's form became; nothing is saved."""

    document = serializers.CharField(read_only=True, help_text="YAML; empty: no check fits")
    refused = RefusedCheckSerializer(many=True, read_only=True)


class ProposeChecksSerializer(serializers.Serializer[Any]):
    """A table of a lake."""

    lake = serializers.CharField(max_length=32)
    table = serializers.CharField(max_length=400, help_text="db.table")


class ProposedChecksSerializer(serializers.Serializer[Any]):
    """Rules to start with; nothing is saved."""

    document = serializers.CharField(read_only=True, help_text="YAML")


class UncheckedTableSerializer(serializers.ModelSerializer[Table]):
    """A table without checks."""

    table = serializers.CharField(source="__str__")

    class Meta:
        model = Table
        fields: ClassVar = ["lake", "db", "name", "table", "format", "owner", "first_seen_at"]


class RuleSampleSerializer(serializers.ModelSerializer[RuleSample]):
    """Rows that speak against a rule."""

    columns = serializers.ListField(child=serializers.CharField(), read_only=True)
    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_null=True)), read_only=True
    )

    class Meta:
        model = RuleSample
        fields: ClassVar = ["window", "metric", "columns", "rows", "measured_at"]


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
        fields: ClassVar = [
            "metric", "window", "day", "value", "reason", "detail", "commit", "measured_at",
        ]  # fmt: skip
