"""API of what is kept of a captured table: for admins."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from pipelines.cdc.control.selectors.pipelines import get_captured_table, get_pipeline_for_user
from pipelines.cdc.control.services.kept_records import kept_read
from portal.access.actors import Actor
from portal.ui.api.operations import ApiView, operation


class KeptRecordSerializer(serializers.Serializer[Any]):
    """Something that does not fit; what is protected is null."""

    reason = serializers.CharField(read_only=True, help_text="type, key or conflict")
    column = serializers.CharField(read_only=True)
    text = serializers.CharField(read_only=True, allow_null=True)
    key = serializers.CharField(read_only=True, allow_null=True)
    schema = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)


class KeptColumnSerializer(serializers.Serializer[Any]):
    """How many values of a column wait."""

    column = serializers.CharField(read_only=True)
    n = serializers.IntegerField(read_only=True)


class KeptRecordsSerializer(serializers.Serializer[Any]):
    """What is kept of a table."""

    n_quarantined = serializers.IntegerField(read_only=True)
    quarantined = KeptRecordSerializer(many=True, read_only=True)
    n_waiting = serializers.IntegerField(read_only=True)
    aside = KeptColumnSerializer(many=True, read_only=True)


class TableKept(ApiView):
    """What is kept of a table."""

    @operation("pipelines_table_kept", answer=KeptRecordsSerializer)
    def get(self, name: str, pk: int) -> object:
        """Return some of what is in quarantine, and how much is aside (admins; it is recorded)."""
        found = get_pipeline_for_user(name, user=self.user)
        table = get_captured_table(found, pk)
        return kept_read(table, by=Actor.of(self.user, lake=found.lake), now=timezone.now())
