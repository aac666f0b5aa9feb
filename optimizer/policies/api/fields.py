"""Serializers of policies."""

from typing import Any

from rest_framework import serializers

from optimizer.models import PolicyVersion
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.services.policies import MAX_REASON
from portal.ui.api.old_names import OldNames

_VALUES = "only the settings that the scope names; the rest is inherited"


class OptimizerScopeSerializer(OldNames, serializers.Serializer[Any]):
    """What is at one scope now."""

    old_names = {
        "why": "reason",
    }

    lake = serializers.CharField(read_only=True)
    table_format = serializers.CharField(source="format", read_only=True)
    scope = serializers.CharField(read_only=True)
    level = serializers.CharField(read_only=True, help_text="how wide the scope is, in words")
    version = serializers.IntegerField(read_only=True)
    values = serializers.DictField(read_only=True, help_text=_VALUES)
    n_tables = serializers.IntegerField(read_only=True, help_text="how many you see under it")
    by = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    reason = serializers.CharField(read_only=True)


class OptimizerPolicyVersionSerializer(OldNames, serializers.ModelSerializer[PolicyVersion]):
    """The settings of one scope as somebody set them."""

    old_names = {
        "why": "reason",
    }

    table_format = serializers.CharField(source="format", read_only=True)
    values = serializers.DictField(read_only=True, help_text=_VALUES)
    is_current = serializers.SerializerMethodField()

    class Meta:
        model = PolicyVersion
        fields = (
            *("lake", "table_format", "scope", "version", "is_current"),
            *("values", "by", "at", "reason"),
        )
        read_only_fields = fields

    def get_is_current(self, row: PolicyVersion) -> bool:
        """Say whether it stands now."""
        return bool(row.is_current)


class OptimizerSettingSerializer(serializers.Serializer[Any]):
    """One setting as it holds for a table."""

    value = serializers.JSONField(read_only=True)
    scope = serializers.CharField(read_only=True, help_text="who set it; 'default': nobody")


class OptimizerTablePolicySerializer(serializers.Serializer[Any]):
    """Every setting of a table; `seen` is the version of its own scope, to be sent back."""

    lake = serializers.CharField(read_only=True)
    scope = serializers.CharField(
        read_only=True, allow_null=True, help_text="null: its name cannot be written as one"
    )
    seen = serializers.IntegerField(read_only=True)
    settings = serializers.DictField(child=OptimizerSettingSerializer(), read_only=True)


class OptimizerPolicyParamsSerializer(serializers.Serializer[Any]):
    """What a scope shall say; all its settings at once."""

    scope = serializers.CharField(max_length=385, help_text="*, etl*, etl.events_* or etl.events")
    values = serializers.DictField(help_text=_VALUES)
    table_format = serializers.ChoiceField(
        choices=[one.value for one in TableFormat],
        default=TableFormat.ICEBERG.value,
        help_text="of which tables it is",
    )

    def validate_table_format(self, value: str) -> TableFormat:
        """Read it."""
        return TableFormat(value)


class OptimizerPolicyChangeSerializer(OldNames, OptimizerPolicyParamsSerializer):
    """The same, to be kept."""

    old_names = {
        "why": "reason",
    }

    seen = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="the version that you saw; 0: there was none"
    )
    reason = serializers.CharField(max_length=MAX_REASON)


class OptimizerPolicyMoveSerializer(serializers.Serializer[Any]):
    """One setting that would change, and in how many tables."""

    setting = serializers.CharField(read_only=True)
    was = serializers.JSONField(read_only=True)
    would_be = serializers.JSONField(read_only=True)
    n_tables = serializers.IntegerField(read_only=True)


class OptimizerPolicyPreviewSerializer(serializers.Serializer[Any]):
    """What would change."""

    n_tables = serializers.IntegerField(read_only=True)
    n_looked = serializers.IntegerField(read_only=True, help_text="the first so many by name")
    n_changed = serializers.IntegerField(read_only=True)
    changes = OptimizerPolicyMoveSerializer(many=True, read_only=True)
    bad = serializers.CharField(
        read_only=True, help_text="the first table whose settings would contradict each other"
    )
