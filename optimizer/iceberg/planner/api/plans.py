"""Serializers of dry runs."""

from typing import Any

from rest_framework import serializers


class OptimizerEstimateSerializer(serializers.Serializer[Any]):
    """What a piece of work would read, write and cost."""

    n_files_read = serializers.IntegerField(read_only=True)
    bytes_read = serializers.IntegerField(read_only=True)
    n_files_written = serializers.IntegerField(read_only=True)
    bytes_written = serializers.IntegerField(read_only=True)
    seconds = serializers.FloatField(read_only=True)
    gb_hours = serializers.FloatField(read_only=True)


class OptimizerPlannedSerializer(serializers.Serializer[Any]):
    """One piece of work that would be done."""

    kind = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    partitions = serializers.ListField(
        child=serializers.CharField(), read_only=True, allow_null=True, help_text="null: all"
    )
    estimate = OptimizerEstimateSerializer(read_only=True)
    is_timed = serializers.BooleanField(
        read_only=True, help_text="false: no speed was measured yet, seconds are 0"
    )
    needs_approval = serializers.BooleanField(read_only=True)
    not_before = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="it waits for other writers to pause"
    )


class OptimizerPlanSerializer(serializers.Serializer[Any]):
    """What would be done, what holds it, what it costs in all, and what is not done and why."""

    tasks = OptimizerPlannedSerializer(many=True, read_only=True)
    total = OptimizerEstimateSerializer(read_only=True)
    held = serializers.CharField(read_only=True)
    not_before = serializers.DateTimeField(read_only=True, allow_null=True)
    not_done = serializers.DictField(
        child=serializers.IntegerField(), read_only=True, help_text="reason -> partitions"
    )
