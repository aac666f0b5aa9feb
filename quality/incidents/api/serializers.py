"""Serializers of incidents, their windows and steps, and of what people do."""

from typing import Any, ClassVar

from rest_framework import serializers

from portal.lake.reasons import MOST_SIGNS
from quality.incidents.domain.states import Resolution
from quality.incidents.models import USERNAME_LENGTH
from quality.incidents.selectors.incidents import events_of, windows_of
from quality.models import Incident, IncidentEvent, IncidentWindow


class IncidentSerializer(serializers.ModelSerializer[Incident]):
    """A rule that does not pass, and who has to look at it."""

    rule = serializers.CharField(
        read_only=True, help_text="empty: the table could not be measured at all"
    )

    class Meta:
        model = Incident
        fields: tuple[str, ...] = (
            *("id", "lake", "db", "table", "owner", "rule", "severity", "state", "team"),
            *("assignee", "text", "n_windows", "n_failures", "opened_at", "failed_at"),
            *("acknowledged_by", "acknowledged_at", "closed_at", "closed_by", "resolution"),
            *("reason", "due_at", "version"),
        )


class IncidentWindowSerializer(serializers.ModelSerializer[IncidentWindow]):
    """One window that failed, as it failed last."""

    class Meta:
        model = IncidentWindow
        fields: ClassVar = [
            "window", "outcome", "text", "value", "low", "high", "n_failures", "first_at",
            "failed_at", "is_failing",
        ]  # fmt: skip


class IncidentEventSerializer(serializers.ModelSerializer[IncidentEvent]):
    """One step, and who took it."""

    class Meta:
        model = IncidentEvent
        fields: ClassVar = ["id", "at", "actor", "action", "text"]


class IncidentDetailSerializer(IncidentSerializer):
    """An incident with the windows that are kept of it, and its newest steps."""

    windows = serializers.SerializerMethodField()
    events = serializers.SerializerMethodField()

    class Meta(IncidentSerializer.Meta):
        fields = (*IncidentSerializer.Meta.fields, "windows", "events")

    def get_windows(self, row: Incident) -> list[dict[str, Any]]:
        """Return the windows."""
        return list(IncidentWindowSerializer(windows_of(row), many=True).data)

    def get_events(self, row: Incident) -> list[dict[str, Any]]:
        """Return the steps."""
        return list(IncidentEventSerializer(events_of(row), many=True).data)


class IncidentVersionSerializer(serializers.Serializer[Any]):
    """The version that was read."""

    version = serializers.IntegerField(min_value=0)


class AssignIncidentSerializer(IncidentVersionSerializer):
    """Who gets it."""

    assignee = serializers.CharField(max_length=USERNAME_LENGTH)


class ReopenIncidentSerializer(IncidentVersionSerializer):
    """Why it is opened again."""

    reason = serializers.CharField(max_length=MOST_SIGNS)


class ResolveIncidentSerializer(ReopenIncidentSerializer):
    """What it came to, and why it is closed."""

    resolution = serializers.ChoiceField(choices=[one.value for one in Resolution])
