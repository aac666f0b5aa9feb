"""Comparisons of captured tables with their sources, keys that differ, and repairs."""

from typing import ClassVar

from django.db import models

from pipelines.cdc.control.models import CapturedTable, Pipeline

DEFAULT_HOUR, DEFAULT_RATE = 2, 20_000


class ComparisonSchedule(models.Model):
    """When a pipeline's tables are compared, and how fast the source is read for it."""

    pipeline = models.OneToOneField(
        Pipeline, on_delete=models.CASCADE, related_name="comparison_schedule"
    )
    hour = models.PositiveSmallIntegerField(
        null=True, help_text="of the lake's day; empty: only when somebody asks"
    )
    rows_per_second = models.PositiveIntegerField(default=DEFAULT_RATE)
    changed_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.pipeline} at {self.hour}"


class TableComparison(models.Model):
    """What a comparison of one table came to."""

    captured = models.ForeignKey(
        CapturedTable, on_delete=models.CASCADE, related_name="comparisons"
    )
    run = models.CharField(max_length=64)
    requested_by = models.CharField(max_length=150)
    compared_at = models.DateTimeField()
    state = models.CharField(max_length=16, help_text="equal, different, skipped or failed")
    note = models.TextField(blank=True, help_text="why it was skipped or failed")
    position = models.CharField(max_length=300, blank=True, help_text="of the source, and the lake")
    n_rows = models.BigIntegerField(default=0, help_text="of the source")
    n_lake = models.BigIntegerField(default=0)
    n_ranges = models.PositiveIntegerField(default=0)
    n_ranges_differing = models.PositiveIntegerField(default=0)
    n_rounds = models.PositiveIntegerField(default=0)
    n_missing = models.BigIntegerField(default=0)
    n_extra = models.BigIntegerField(default=0)
    n_different = models.BigIntegerField(default=0)
    n_unfit = models.BigIntegerField(default=0, help_text="rows whose record is in quarantine")
    n_changing = models.BigIntegerField(default=0, help_text="rows that changed in every round")
    columns_left_out = models.JSONField(default=list)
    seconds = models.FloatField(default=0)
    notified_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["captured", "run"], name="cdc_comparison_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["captured", "compared_at"], name="cdc_comparison_last")
        ]

    def __str__(self) -> str:
        return f"{self.captured} at {self.compared_at}"

    @property
    def badge(self) -> str:
        """What it came to, as pages show it."""
        return f"CDC_COMPARED_{self.state.upper()}"

    @property
    def n_differences(self) -> int:
        """How many rows differ."""
        return self.n_missing + self.n_extra + self.n_different


class DifferingKey(models.Model):
    """The key of a row that differs; of a comparison ten thousand are kept at most."""

    comparison = models.ForeignKey(TableComparison, on_delete=models.CASCADE, related_name="keys")
    kind = models.CharField(max_length=16, help_text="missing, extra or different")
    key = models.JSONField(help_text="text by column of the primary key")

    def __str__(self) -> str:
        return f"{self.kind} in {self.comparison}"


class TableRepair(models.Model):
    """An order to the capture to write the differing rows of a comparison again."""

    captured = models.ForeignKey(CapturedTable, on_delete=models.CASCADE, related_name="repairs")
    comparison = models.OneToOneField(
        TableComparison, on_delete=models.CASCADE, related_name="repair"
    )
    requested_by = models.CharField(max_length=150)
    requested_at = models.DateTimeField()
    reason = models.TextField()
    n_keys = models.PositiveIntegerField()
    done_at = models.DateTimeField(null=True, help_text="when it was in the changelog")
    batch = models.BigIntegerField(default=0, help_text="of the changelog that has the last of it")
    n_rows = models.PositiveIntegerField(default=0, help_text="rows written again")
    n_deletes = models.PositiveIntegerField(default=0, help_text="rows deleted from the lake")
    note = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["done_at"], name="cdc_repair_open")]

    def __str__(self) -> str:
        return f"Repair of {self.captured}"
