"""Webhook by which a scheduler marks partitions as ready to read: `POST /api/readiness/`."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.serializers import LakeField
from quality.ready_flag.services.marking import Mark, Marked, partitions_mark

SCOPE = "readiness"


class MarkSerializer(serializers.Serializer[Any]):
    """What is ready, or is not."""

    lake = LakeField()
    table = serializers.CharField(max_length=512, help_text="db.table")
    partitions = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, max_length=8_192),
        help_text="names of partitions, or parts of names: dt=2026-11-21/hour=03, dt=2026-11-21",
    )
    ready = serializers.BooleanField(help_text="false hides them from offline readers")


class MarkedSerializer(serializers.Serializer[Any]):
    """What it came to."""

    lake = serializers.CharField()
    table = serializers.CharField()
    ready = serializers.BooleanField()
    n_partitions = serializers.IntegerField(help_text="partitions that were meant")
    n_changed = serializers.IntegerField(help_text="those that said something else before")
    message = serializers.CharField()


class MarkHook(ApiView):
    """The hook."""

    token_scope = SCOPE

    @operation("readiness_mark", body=MarkSerializer, answer=MarkedSerializer)
    def post(self) -> object:
        """Set the flag of partitions; twice changes nothing, an unknown name sets none."""
        data = self.data
        mark = Mark(data["lake"], data["table"], tuple(data["partitions"]), data["ready"])
        return as_json(partitions_mark(mark, user=self.user, now=timezone.now()))


def as_json(marked: Marked) -> dict[str, Any]:
    """Return the API's form of what was set."""
    word = "ready" if marked.ready else "not ready"
    return {
        "lake": str(marked.hive.lake),
        "table": str(marked.hive),
        "ready": marked.ready,
        "n_partitions": marked.n_partitions,
        "n_changed": marked.n_changed,
        "message": f"{marked.n_partitions} partitions of {marked.hive} are {word}, "
        f"{marked.n_changed} of them since now.",
    }
