"""Which fields do schedulers send, and which do they get?"""

import math
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from refresh.domain.visible import Visibility

LONGEST_WAIT_SECONDS = 86_400


class WrittenSerializer(serializers.Serializer[Any]):
    """What a job has written."""

    lake = serializers.CharField(default="main", max_length=32)
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


@extend_schema_field(OpenApiTypes.DATETIME)
class InstantField(serializers.Field[datetime, str, str, Any]):
    """An instant with its zone, as the hook answered it."""

    def to_internal_value(self, data: str) -> datetime:
        """Read it; an address turns a plus sign into a space."""
        try:
            found = datetime.fromisoformat(str(data).replace(" ", "+"))
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise serializers.ValidationError(
                "Not an instant like 2026-11-22T12:00:00.000001Z. Send the written_at that "
                "POST /api/refresh/ answered."
            )
        try:
            return found.astimezone(UTC)
        except OverflowError:
            raise serializers.ValidationError("Not an instant of our time.") from None


class WaitSerializer(WrittenSerializer):
    """What a job waits for."""

    written_at = InstantField()
    timeout = serializers.FloatField(
        default=0.0,
        min_value=0,
        max_value=LONGEST_WAIT_SECONDS,
        help_text="seconds; one answer takes 20 at most and says when to ask again",
    )
    strict = serializers.BooleanField(
        default=True, help_text="false: go on after the time-out, told who lacks it"
    )

    def validate_timeout(self, value: float) -> float:
        """Refuse what is no number, which no limit does."""
        if not math.isfinite(value):
            raise serializers.ValidationError("Not a number of seconds.")
        return value


class FeVisibilitySerializer(serializers.Serializer[Any]):
    """One front end."""

    name = serializers.CharField()
    visibility = serializers.ChoiceField(choices=[one.value for one in Visibility])
    why = serializers.CharField()


class OnClusterSerializer(serializers.Serializer[Any]):
    """One table in one cluster."""

    cluster = serializers.CharField()
    table = serializers.CharField()
    is_visible = serializers.BooleanField()
    problem = serializers.CharField()
    front_ends = FeVisibilitySerializer(many=True, source="fes")


class WaitedSerializer(serializers.Serializer[Any]):
    """Whether the write is visible, and where it is not."""

    is_visible = serializers.BooleanField(help_text="proven on every live front end")
    is_over = serializers.BooleanField(help_text="asking again is of no use")
    may_go_on = serializers.BooleanField(help_text="visible, or over without strict")
    why = serializers.CharField()
    clusters = OnClusterSerializer(many=True)
    ask_again_seconds = serializers.IntegerField(help_text="0 where it is over")
