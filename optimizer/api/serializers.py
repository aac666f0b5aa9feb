"""Which fields do Iceberg tables, their partitions, commits and tasks have in the API?"""

from typing import Any

from rest_framework import serializers

from optimizer.domain.bands import HealthBand, band_of
from optimizer.models import Commit, HealthPoint, IcebergTable, OptimizeTask, PartitionHealth


class DeductionSerializer(serializers.Serializer[Any]):
    """What a score lost to one part, and why; a note has no part and no points."""

    part = serializers.CharField(read_only=True)
    points = serializers.FloatField(read_only=True)
    reason = serializers.CharField(read_only=True)


class HealthPointSerializer(serializers.ModelSerializer[HealthPoint]):
    """A table's health at one look."""

    class Meta:
        model = HealthPoint
        fields = ("at", "health", "n_files", "n_small", "n_bytes", "n_delete_files")
        read_only_fields = fields


class IcebergTableSerializer(serializers.ModelSerializer[IcebergTable]):
    """A table, how healthy it is, and what was decided last."""

    band = serializers.SerializerMethodField(help_text="GOOD, FAIR, POOR or UNKNOWN")

    class Meta:
        model = IcebergTable
        fields: tuple[str, ...] = (
            *("id", "lake", "db", "table", "uuid", "owner", "is_gone", "gone_at"),
            *("health", "band", "n_files", "n_small", "small_bytes", "n_bytes", "n_rows"),
            *("n_delete_files", "n_partitions", "n_manifests", "n_snapshots", "format_version"),
            *("committed_at", "heard_at", "looked_at", "look_due_at", "look_problem"),
            *("decided_at", "verdict", "score", "is_paused", "paused_by", "paused_at"),
            "paused_why",
        )
        read_only_fields = fields

    def get_band(self, row: IcebergTable) -> HealthBand:
        """Give the band of its health."""
        return band_of(row.health)


class OptimizeTaskSerializer(serializers.ModelSerializer[OptimizeTask]):
    """One piece of work: why it is done, what it waits for, what came of it."""

    table_format = serializers.CharField(read_only=True, help_text="of its table: iceberg or hudi")
    table_id = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="of an Iceberg table, null otherwise"
    )
    hudi_id = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="of a Hudi table, null otherwise"
    )
    db = serializers.CharField(source="subject.db", read_only=True)
    table = serializers.CharField(source="subject.table", read_only=True)
    is_open = serializers.SerializerMethodField()
    is_stopping = serializers.BooleanField(
        read_only=True, help_text="cancelled while a run has it; the run is told to leave it"
    )

    class Meta:
        model = OptimizeTask
        fields = (
            *("id", "table_format", "table_id", "hudi_id", "db", "table", "kind", "state"),
            *("is_open", "is_stopping"),
            *(
                "reason",
                "waits_for",
                "not_before",
                "risk",
                "is_cold",
                "score",
                "partitions",
                "instants",
                "target_bytes",
                "layout",
                "policy_versions",
            ),
            *("estimate", "snapshot_id", "asked_by", "noted_at", "heard_at", "sent_at"),
            *("ended_at", "run", "outcome_code", "outcome", "before", "after", "commits"),
            *("n_conflicts", "n_tries", "seconds"),
        )
        read_only_fields = fields

    def get_is_open(self, row: OptimizeTask) -> bool:
        """Say whether it is still to be done."""
        return bool(row.is_open)


class IcebergTableListSerializer(IcebergTableSerializer):
    """A table as a list gives it, with its last looks, newest first."""

    trend = HealthPointSerializer(source="points", many=True, read_only=True)

    class Meta(IcebergTableSerializer.Meta):
        fields: tuple[str, ...] = (*IcebergTableSerializer.Meta.fields, "trend")
        read_only_fields = fields


class IcebergLayoutSerializer(serializers.Serializer[Any]):
    """How much of a table lies as its policy asks."""

    n_files = serializers.IntegerField(read_only=True)
    n_laid_out = serializers.IntegerField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True)
    laid_out_bytes = serializers.IntegerField(read_only=True)
    share = serializers.FloatField(read_only=True, help_text="of the bytes, from 0 to 1")


class IcebergTableDetailSerializer(IcebergTableSerializer):
    """A table with the reasons of its score, its layout, and what is under way."""

    deductions = DeductionSerializer(many=True, read_only=True)
    columns = serializers.DictField(child=serializers.CharField(), read_only=True)
    layout = IcebergLayoutSerializer(source="coverage", read_only=True)
    open_tasks = OptimizeTaskSerializer(many=True, read_only=True)

    class Meta(IcebergTableSerializer.Meta):
        fields: tuple[str, ...] = (
            *IcebergTableSerializer.Meta.fields,
            *("location", "snapshot_id", "partition_spec", "columns", "deductions", "layout"),
            "open_tasks",
        )
        read_only_fields = fields


class IcebergPartitionSerializer(serializers.ModelSerializer[PartitionHealth]):
    """The files of one partition at the table's last look."""

    deductions = DeductionSerializer(many=True, read_only=True)
    sizes = serializers.ListField(
        child=serializers.IntegerField(), read_only=True, help_text="files by size, in buckets"
    )

    class Meta:
        model = PartitionHealth
        fields = (
            *("partition", "spec_id", "health", "deductions", "n_files", "n_bytes", "n_rows"),
            *("n_small", "small_bytes", "n_big", "two_smallest_bytes", "n_pos_delete_files"),
            *("n_pos_deleted_rows", "n_eq_delete_files", "n_eq_deleted_rows", "n_dvs"),
            *("squared_error", "n_laid_out", "laid_out_bytes", "newest_commit_at", "sizes"),
        )
        read_only_fields = fields


class IcebergCommitSerializer(serializers.ModelSerializer[Commit]):
    """One commit, as its summary tells."""

    class Meta:
        model = Commit
        fields = (
            *("snapshot_id", "parent_id", "sequence", "at", "heard_at", "operation", "is_ours"),
            *("n_added", "n_removed", "bytes_added", "bytes_removed", "n_deletes_added"),
            *("n_changed_partitions", "source", "report"),
        )
        read_only_fields = fields


class OptimizerRunningSerializer(serializers.Serializer[Any]):
    """A task in a run, and how far the run is."""

    task = OptimizeTaskSerializer(read_only=True)
    phase = serializers.CharField(source="run.phase", read_only=True, default="")
    done = serializers.IntegerField(source="run.done", read_only=True, default=None)
    total = serializers.IntegerField(source="run.total", read_only=True, default=None)


class OptimizerQueueNowSerializer(serializers.Serializer[Any]):
    """The queue now, what runs, and what ended in the last day."""

    n_waiting = serializers.IntegerField(read_only=True)
    n_held = serializers.IntegerField(read_only=True)
    n_running = serializers.IntegerField(read_only=True)
    running = OptimizerRunningSerializer(many=True, read_only=True)
    n_ended = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    ended = OptimizeTaskSerializer(many=True, read_only=True)
