"""Serializers of what schedulers send and receive."""

from typing import Any

from rest_framework import serializers

from portal.ui.api.serializers import LakeField


class WrittenSerializer(serializers.Serializer[Any]):
    """What a job has written."""

    lake = LakeField()
    table = serializers.CharField(max_length=512, help_text="db.table")
    partitions = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, max_length=8_192),
        default=list,
        help_text="names of partitions, or parts of names: dt=2026-11-21/hour=03, dt=2026-11-21",
    )


class TakenSerializer(serializers.Serializer[Any]):
    """What was noted."""

    lake = serializers.CharField()
    table = serializers.CharField()
    written_at = serializers.CharField(help_text="wait for this instant")
    shown_as = serializers.ListField(
        child=serializers.CharField(), help_text="cluster: its name of the table"
    )
    is_whole = serializers.BooleanField(help_text="the table itself is refreshed")
    n_partitions = serializers.IntegerField(help_text="full names that are refreshed")
    n_dropped = serializers.IntegerField(help_text="full names that the metastore has no more")
    unmatched = serializers.ListField(
        child=serializers.CharField(), help_text="what stands for no partition, at most 100"
    )
    n_unmatched = serializers.IntegerField()
    degraded = serializers.CharField(help_text="why more is refreshed than was asked; else empty")
    message = serializers.CharField()
