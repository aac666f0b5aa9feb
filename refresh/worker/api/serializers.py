"""Fields of the queue in the API."""

from typing import Any

from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from refresh.freshness.api.serializers import WaitingSerializer
from refresh.models import Cluster


class LaneSerializer(serializers.Serializer[Any]):
    """What waits in a lane; `NEW` is not planned yet."""

    lane = serializers.CharField(read_only=True)
    n_waiting = serializers.IntegerField(read_only=True)
    n_urgent = serializers.IntegerField(read_only=True)
    n_retries = serializers.IntegerField(read_only=True, help_text="Failed before.")
    oldest = serializers.DateTimeField(read_only=True, allow_null=True)


class HinderedSerializer(OldNames, serializers.ModelSerializer[Cluster]):
    """A cluster that is paused or under pressure."""

    old_names = {"paused_why": "paused_reason"}

    class Meta:
        model = Cluster
        fields = ("name", "is_paused", "paused_by", "paused_at", "paused_reason", "pressure")
        read_only_fields = fields


class QueueNowSerializer(serializers.Serializer[Any]):
    """The queue now: what hinders it, its lanes, and what runs."""

    clusters = HinderedSerializer(many=True, read_only=True)
    lanes = LaneSerializer(many=True, read_only=True)
    running = WaitingSerializer(many=True, read_only=True)
