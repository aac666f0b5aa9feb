"""How the API writes what was found."""

from typing import Any

from rest_framework import serializers


class HitSerializer(serializers.Serializer[Any]):
    """One thing that was found."""

    title = serializers.CharField()
    detail = serializers.CharField(help_text="A second line: its format and owner, or its state.")
    url = serializers.CharField(help_text="The address of its page on this site.")


class FoundGroupSerializer(serializers.Serializer[Any]):
    """What one source found."""

    key = serializers.CharField(help_text="Stable, for programs: `tables`.")
    title = serializers.CharField()
    has_failed = serializers.BooleanField(help_text="Whether it could not be searched.")
    hits = HitSerializer(many=True)


class FoundSerializer(serializers.Serializer[Any]):
    """What was found, by source; sources that found nothing are left out."""

    text = serializers.CharField(help_text="The text that was searched for.")
    groups = FoundGroupSerializer(many=True)
    opened = HitSerializer(many=True, help_text="Without a text: what you opened last.")
