"""Serializers of comparisons."""

from typing import ClassVar

from rest_framework import serializers

from pipelines.cdc.reconciling.services.schedules import LEAST_RATE, MOST_RATE
from pipelines.models import ComparisonSchedule, DifferingKey, TableComparison, TableRepair


class ComparisonSerializer(serializers.ModelSerializer[TableComparison]):
    """What a comparison of a table came to."""

    table = serializers.CharField(source="captured.__str__", read_only=True)
    captured_id = serializers.IntegerField(read_only=True)
    run = serializers.CharField(read_only=True, help_text="the run that compared it")

    class Meta:
        model = TableComparison
        fields: ClassVar[list[str]] = [
            *("id", "captured_id", "table", "run", "requested_by", "compared_at", "state", "note"),
            *("position", "n_rows", "n_lake", "n_ranges", "n_ranges_differing", "n_rounds"),
            *("n_missing", "n_extra", "n_different", "n_unfit", "n_changing"),
            *("columns_left_out", "seconds"),
        ]
        read_only_fields = fields


class ComparisonScheduleSerializer(serializers.ModelSerializer[ComparisonSchedule]):
    """When a pipeline's tables are compared, and how fast the source is read for it."""

    hour = serializers.IntegerField(
        min_value=0, max_value=23, allow_null=True, help_text="null: only when somebody asks"
    )
    rows_per_second = serializers.IntegerField(min_value=LEAST_RATE, max_value=MOST_RATE)

    class Meta:
        model = ComparisonSchedule
        fields: ClassVar[list[str]] = ["hour", "rows_per_second"]


class DifferingKeySerializer(serializers.ModelSerializer[DifferingKey]):
    """The key of a row that differs."""

    key = serializers.DictField(
        child=serializers.CharField(), help_text="text by column of the primary key"
    )

    class Meta:
        model = DifferingKey
        fields: ClassVar[list[str]] = ["id", "kind", "key"]
        read_only_fields = fields


class TableRepairSerializer(serializers.ModelSerializer[TableRepair]):
    """An order to write rows again that differ."""

    class Meta:
        model = TableRepair
        fields: ClassVar[list[str]] = [
            *("id", "requested_by", "requested_at", "reason", "n_keys"),
            *("done_at", "batch", "n_rows", "n_deletes", "note"),
        ]
        read_only_fields = fields
