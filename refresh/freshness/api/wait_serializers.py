"""Fields of the answer to a scheduler that waits."""

import math
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from refresh.changes.api.serializers import WrittenSerializer
from refresh.freshness.domain.visibility import Visibility

LONGEST_WAIT_SECONDS = 86_400


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


class FeVisibilitySerializer(OldNames, serializers.Serializer[Any]):
    """One front end."""

    old_names = {
        "why": "reason",
    }

    name = serializers.CharField()
    visibility = serializers.ChoiceField(choices=[one.value for one in Visibility])
    reason = serializers.CharField()


class OnClusterSerializer(serializers.Serializer[Any]):
    """One table in one cluster."""

    cluster = serializers.CharField()
    table = serializers.CharField()
    is_visible = serializers.BooleanField()
    problem = serializers.CharField()
    front_ends = FeVisibilitySerializer(many=True, source="fes")


class WaitedSerializer(OldNames, serializers.Serializer[Any]):
    """Whether the write is visible, and where it is not."""

    old_names = {
        "why": "reason",
    }

    is_visible = serializers.BooleanField(help_text="proven on every live front end")
    is_over = serializers.BooleanField(help_text="asking again is of no use")
    may_go_on = serializers.BooleanField(help_text="visible, or over without strict")
    reason = serializers.CharField()
    clusters = OnClusterSerializer(many=True)
    ask_again_seconds = serializers.IntegerField(help_text="0 where it is over")
