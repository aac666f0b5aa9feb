"""Serializers of materializations and their refreshes."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from pipelines.materialized.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.materialized.selectors.readers import hold_on_facts
from pipelines.materialized.services.days import KEPT_DAYS
from pipelines.materialized.services.definitions import LEAST_MINUTES, LONGEST_SQL, MOST_MINUTES
from pipelines.materialized.services.requests import run_under_way
from pipelines.models import Materialization, MaterializationDay, MaterializationRefresh


class MaterializationDaySerializer(serializers.ModelSerializer[MaterializationDay]):
    """What a materialization answered on one day, and what its refreshes cost."""

    class Meta:
        model = MaterializationDay
        fields: ClassVar = [
            "day", "n_answers", "bytes_spared", "answered_at", "n_reads", "n_refreshes",
            "seconds", "bytes_read",
        ]  # fmt: skip


class MaterializationSerializer(serializers.ModelSerializer[Materialization]):
    """One materialization."""

    name = serializers.CharField(source="__str__", help_text="the table with the result")
    state = serializers.CharField(source="badge", read_only=True)
    positions = serializers.JSONField(help_text="commits of the sources, by table")
    n_answers = serializers.IntegerField(
        default=0, help_text=f"queries that were answered from it, of {KEPT_DAYS} days"
    )
    answered_at = serializers.DateTimeField(
        default=None, allow_null=True, help_text="the last such query"
    )

    class Meta:
        model = Materialization
        fields: ClassVar = [
            "id", "lake", "name", "state", "location", "owner", "sql", "source", "every_minutes",
            "on_commit", "pause_minutes", "max_lag_minutes", "is_paused", "version",
            "set_by", "set_at", "next_at", "tried_at", "fresh_at", "problem",
            "problem_code", "way", "reason", "has_floats", "n_rows", "n_groups",
            "n_dirty_groups", "seconds", "n_answers", "answered_at", "positions",
        ]  # fmt: skip


class MaterializationDetailSerializer(MaterializationSerializer):
    """One materialization with its days."""

    days = MaterializationDaySerializer(many=True, read_only=True)
    run = serializers.SerializerMethodField(
        help_text="the run that refreshes it now or next, which says how far it is; null: none"
    )

    own_tables = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="that it makes; they stay when it is deleted",
    )
    hold_state = serializers.SerializerMethodField(
        help_text="of old versions of its facts; empty: nothing is kept for it"
    )

    class Meta(MaterializationSerializer.Meta):
        fields: ClassVar = [
            *MaterializationSerializer.Meta.fields,
            "days",
            "run",
            "hold_state",
            "own_tables",
        ]

    def get_hold_state(self, row: Materialization) -> str:
        """Return whether old versions are kept for it."""
        hold = hold_on_facts(row)
        return hold.words if hold is not None else ""

    def get_run(self, row: Materialization) -> UUID | None:
        """Return the id of its run."""
        run = run_under_way(row)
        return run.pk if run is not None else None


class RefreshSerializer(serializers.ModelSerializer[MaterializationRefresh]):
    """What one refresh came to."""

    class Meta:
        model = MaterializationRefresh
        fields: ClassVar = [
            "id", "run", "requested_by", "ended_at", "state", "way", "reason", "n_groups",
            "n_changed_groups", "n_dirty_groups", "n_commits", "changed_bytes", "all_bytes",
            "seconds",
        ]  # fmt: skip


class WantedSerializer(serializers.Serializer[Any]):
    """A definition, and when it is refreshed."""

    sql = serializers.CharField(max_length=LONGEST_SQL)
    every_minutes = serializers.IntegerField(
        default=EVERY_MINUTES, min_value=LEAST_MINUTES, max_value=MOST_MINUTES
    )
    on_commit = serializers.BooleanField(
        default=False, help_text="also after a commit of its facts"
    )
    pause_minutes = serializers.IntegerField(
        default=PAUSE_MINUTES,
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        help_text="commits refresh it at most so often",
    )
    max_lag_minutes = serializers.IntegerField(default=0, min_value=0, max_value=MOST_MINUTES)


class SetMaterializationSerializer(WantedSerializer):
    """What is defined; with a version it changes what there is."""

    lake = serializers.CharField(max_length=32)
    name = serializers.CharField(max_length=257, help_text="db.table of the result")


class EditMaterializationSerializer(WantedSerializer):
    """What is changed, as of the version that was read."""

    every_minutes = serializers.IntegerField(min_value=LEAST_MINUTES, max_value=MOST_MINUTES)
    version = serializers.IntegerField(min_value=0)


class CheckDefinitionSerializer(serializers.Serializer[Any]):
    """A definition to be checked."""

    sql = serializers.CharField(max_length=LONGEST_SQL)


class CheckedDefinitionSerializer(serializers.Serializer[Any]):
    """What was read out of a definition."""

    tables = serializers.ListField(child=serializers.CharField())
    dimensions = serializers.ListField(child=serializers.CharField())
    aggregates = serializers.ListField(child=serializers.CharField())


class RefreshNowSerializer(serializers.Serializer[Any]):
    """Whether everything is computed again."""

    is_full = serializers.BooleanField(default=False)


class PauseMaterializationSerializer(serializers.Serializer[Any]):
    """Whether it is refreshed on schedule."""

    paused = serializers.BooleanField()


class DeleteMaterializationSerializer(serializers.Serializer[Any]):
    """The name, typed, and the version that was read."""

    typed = serializers.CharField(max_length=257)
    version = serializers.IntegerField(min_value=0)
