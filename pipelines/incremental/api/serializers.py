"""Serializers of layers, their edges and advances."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from pipelines.incremental.domain.definitions import (
    LEAST_MINUTES,
    LONGEST_STATEMENT,
    MOST_LATENESS,
    MOST_MINUTES,
    MOST_SOURCES,
)
from pipelines.incremental.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.incremental.services.requests import LONGEST_VALUE, run_under_way
from pipelines.models import Layer, LayerAdvance, LayerSchemaRequest, LayerSource

_COLUMN: dict[str, Any] = {"max_length": 128, "default": "", "allow_blank": True}


class LayerSerializer(serializers.ModelSerializer[Layer]):
    """A layer."""

    target = serializers.CharField(source="__str__", read_only=True)
    definition = serializers.JSONField(read_only=True)
    state = serializers.CharField(source="badge", read_only=True)

    class Meta:
        model = Layer
        fields: ClassVar[list[str]] = [
            *("id", "lake", "target", "state", "definition", "version", "every_minutes"),
            *("on_commit", "pause_minutes", "next_at", "is_paused", "pause_reason"),
            *("full_reason", "owner", "set_by", "set_at", "advanced_at", "problem", "problem_code"),
            *("watermark", "watermark_reason"),
        ]
        read_only_fields = fields


class LayerDetailSerializer(LayerSerializer):
    """A layer, with the run that advances it."""

    run = serializers.SerializerMethodField(
        help_text="the run that advances it now or next, which says how far it is; null: none"
    )

    class Meta(LayerSerializer.Meta):
        fields: ClassVar[list[str]] = [*LayerSerializer.Meta.fields, "run"]
        read_only_fields = fields

    def get_run(self, row: Layer) -> UUID | None:
        """Return the id of its run."""
        run = run_under_way(row)
        return run.pk if run is not None else None


class LayerSourceSerializer(serializers.Serializer[Any]):
    """A table that a layer reads."""

    table = serializers.CharField(max_length=257)
    is_static = serializers.BooleanField(default=False)


class LayerDefinitionSerializer(serializers.Serializer[Any]):
    """What a layer is."""

    target = serializers.CharField(max_length=257)
    sources = serializers.ListField(child=LayerSourceSerializer(), max_length=MOST_SOURCES)
    key = serializers.ListField(child=serializers.CharField(max_length=128), max_length=50)
    sql = serializers.CharField(max_length=LONGEST_STATEMENT, default="", allow_blank=True)
    function = serializers.CharField(max_length=200, default="", allow_blank=True)
    version = serializers.CharField(**_COLUMN)
    partition = serializers.CharField(**_COLUMN)
    event_time = serializers.CharField(**_COLUMN)
    lateness_minutes = serializers.IntegerField(min_value=0, max_value=MOST_LATENESS, default=0)
    kind = serializers.ChoiceField(choices=["COW", "MOR"], default="COW")


class LayerTimingSerializer(serializers.Serializer[Any]):
    """A definition, and when the layer is advanced."""

    definition = LayerDefinitionSerializer()
    every_minutes = serializers.IntegerField(
        default=EVERY_MINUTES, min_value=LEAST_MINUTES, max_value=MOST_MINUTES
    )
    on_commit = serializers.BooleanField(default=True)
    pause_minutes = serializers.IntegerField(
        default=PAUSE_MINUTES,
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        help_text="commits advance it at most so often",
    )


class CreateLayerSerializer(LayerTimingSerializer):
    """A layer that is created."""

    lake = serializers.CharField(max_length=32)


class EditLayerSerializer(LayerTimingSerializer):
    """A layer that is changed."""

    version = serializers.IntegerField(min_value=0, help_text="as you read it")


class LayerVersionSerializer(serializers.Serializer[Any]):
    """The version that was read."""

    version = serializers.IntegerField(min_value=0)


class BackfillSerializer(serializers.Serializer[Any]):
    """Partitions from the first to the last."""

    low = serializers.CharField(max_length=LONGEST_VALUE)
    high = serializers.CharField(max_length=LONGEST_VALUE)


class AskColumnsSerializer(serializers.Serializer[Any]):
    """Columns of a source with which a layer shall go on."""

    seen = serializers.CharField(
        max_length=10_000, help_text="the change as the source's `waits_for` says it"
    )
    reread = serializers.BooleanField(default=True, help_text="whether all rows are read again")


class LayerSchemaRequestSerializer(serializers.ModelSerializer[LayerSchemaRequest]):
    """A request to go on with changed columns of a source."""

    class Meta:
        model = LayerSchemaRequest
        fields: ClassVar[list[str]] = [
            *("id", "lake", "db", "table", "source", "change", "reread", "state", "digest"),
            *("requested_by", "created_at", "ended_at", "note"),
        ]
        read_only_fields = fields


class LayerEdgeSerializer(serializers.ModelSerializer[LayerSource]):
    """An edge: a source of a layer, and how far it is read."""

    table = serializers.CharField(source="__str__", read_only=True)
    layer_id = serializers.IntegerField(read_only=True)
    target = serializers.CharField(source="layer.__str__", read_only=True)
    lag_seconds = serializers.IntegerField(allow_null=True, read_only=True)
    hold_state = serializers.CharField(read_only=True, help_text="of old versions of the source")
    waits_for = serializers.CharField(
        read_only=True, help_text="changed columns that a person goes on with"
    )

    class Meta:
        model = LayerSource
        fields: ClassVar[list[str]] = [
            *("id", "layer_id", "table", "target", "is_static", "position", "position_at"),
            *("read_at", "lag_seconds", "event_time", "watermark", "watermark_reason"),
            *("hold_state", "waits_for"),
        ]
        read_only_fields = fields


class LayerAdvanceSerializer(serializers.ModelSerializer[LayerAdvance]):
    """What an advance of a layer did."""

    run = serializers.CharField(read_only=True)

    class Meta:
        model = LayerAdvance
        fields: ClassVar[list[str]] = [
            *("id", "run", "at", "state", "mode", "reason", "n_upserts", "n_deletes"),
            *("n_commits", "seconds"),
        ]
        read_only_fields = fields
