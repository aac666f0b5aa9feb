"""Health of each partition's files, and a table's health over time."""

from typing import ClassVar

from django.db import models

from optimizer.iceberg.tables.models import IcebergTable


class PartitionHealth(models.Model):
    """The files of one partition at the table's last look; the fields are PartitionStats'."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="partitions")
    # Rows of another look than the table's current one are about to be removed.
    snapshot_id = models.BigIntegerField()
    digest = models.CharField(max_length=64, help_text="sha256 of spec and partition")
    partition = models.TextField(blank=True, help_text="empty: an unpartitioned table")
    spec_id = models.IntegerField()
    n_files = models.BigIntegerField()
    n_bytes = models.BigIntegerField()
    n_rows = models.BigIntegerField()
    n_small = models.BigIntegerField()
    small_bytes = models.BigIntegerField()
    n_big = models.BigIntegerField()
    two_smallest_bytes = models.BigIntegerField()
    n_pos_delete_files = models.BigIntegerField()
    n_pos_deleted_rows = models.BigIntegerField()
    n_eq_delete_files = models.BigIntegerField()
    n_eq_deleted_rows = models.BigIntegerField()
    n_dvs = models.BigIntegerField()
    squared_error = models.FloatField()
    n_laid_out = models.BigIntegerField()
    laid_out_bytes = models.BigIntegerField()
    newest_commit_at = models.DateTimeField(null=True)
    health = models.FloatField()
    deductions = models.JSONField(default=list)
    sizes = models.JSONField(default=list, help_text="files by size: counts of the buckets")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "snapshot_id", "digest"], name="optimizer_partition_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "snapshot_id", "health"], name="optimizer_worst")
        ]

    def __str__(self) -> str:
        return self.partition or "(whole table)"


class HealthPoint(models.Model):
    """A table's health at one look, for the trend."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="trend")
    at = models.DateTimeField()
    snapshot_id = models.BigIntegerField(null=True)
    health = models.FloatField()
    n_files = models.BigIntegerField()
    n_small = models.BigIntegerField()
    n_bytes = models.BigIntegerField()
    n_delete_files = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "at"], name="optimizer_point_once")
        ]

    def __str__(self) -> str:
        return f"{self.health:.0f} at {self.at:%Y-%m-%d %H:%M}"
