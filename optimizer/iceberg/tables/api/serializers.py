"""Serializers of Iceberg tables, their partitions, commits and tasks."""

from typing import Any

from rest_framework import serializers

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.domain.bands import HealthBand, band_of
from optimizer.models import Commit, HealthPoint, IcebergTable, PartitionHealth
from portal.ui.api.old_names import OldNames


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


class IcebergTableSerializer(OldNames, serializers.ModelSerializer[IcebergTable]):
    """A table, how healthy it is, and what was decided last."""

    old_names = {
        "verdict": "decision",
        "gone_at": "deleted_at",
        "heard_at": "event_at",
        "is_gone": "is_deleted",
        "look_due_at": "inspect_due_at",
        "look_problem": "inspection_error",
        "looked_at": "inspected_at",
        "paused_why": "paused_reason",
    }

    band = serializers.SerializerMethodField(help_text="GOOD, FAIR, POOR or UNKNOWN")

    class Meta:
        model = IcebergTable
        fields: tuple[str, ...] = (
            *("id", "lake", "db", "table", "uuid", "owner", "is_deleted", "deleted_at"),
            *("health", "band", "n_files", "n_small", "small_bytes", "n_bytes", "n_rows"),
            *("n_delete_files", "n_partitions", "n_manifests", "n_snapshots", "format_version"),
            *("committed_at", "event_at", "inspected_at", "inspect_due_at", "inspection_error"),
            *("decided_at", "decision", "score", "is_paused", "paused_by", "paused_at"),
            "paused_reason",
        )
        read_only_fields = fields

    def get_band(self, row: IcebergTable) -> HealthBand:
        """Return the band of its health."""
        return band_of(row.health)


class IcebergTableListSerializer(IcebergTableSerializer):
    """A table as a list gives it, with its last looks, newest first."""

    trend = HealthPointSerializer(source="points", many=True, read_only=True)

    class Meta(IcebergTableSerializer.Meta):
        fields: tuple[str, ...] = (*IcebergTableSerializer.Meta.fields, "trend")
        read_only_fields = fields


class IcebergLayoutSerializer(serializers.Serializer[Any]):
    """How much of a table is as its policy asks."""

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
    """The files of one partition at the table's last inspection."""

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


class IcebergCommitSerializer(OldNames, serializers.ModelSerializer[Commit]):
    """One commit, as its summary tells."""

    old_names = {"heard_at": "event_at"}

    class Meta:
        model = Commit
        fields = (
            *("snapshot_id", "parent_id", "sequence", "at", "event_at", "operation", "is_ours"),
            *("n_added", "n_removed", "bytes_added", "bytes_removed", "n_deletes_added"),
            *("n_changed_partitions", "source", "report"),
        )
        read_only_fields = fields
