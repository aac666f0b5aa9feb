"""How far the data files of a table have the indexes that are asked for, and what indexes saved."""

from typing import ClassVar

from django.db import models

from optimizer.iceberg.tables.models import IcebergTable


class IndexCoverage(models.Model):
    """One wanted index in one partition of a table."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="index_coverage")
    field_id = models.IntegerField()
    column = models.CharField(max_length=512)
    wanted = models.CharField(max_length=16, help_text="the kind that is asked for, or auto")
    kinds = models.CharField(max_length=128, blank=True, help_text="the kinds that are there")
    partition = models.TextField(blank=True, help_text="empty: an unpartitioned table")
    place = models.IntegerField(help_text="0 is the newest partition")
    n_files = models.BigIntegerField()
    n_covered = models.BigIntegerField(help_text="files that have the index")
    n_refused = models.BigIntegerField(help_text="files in which it is not worth its bytes")
    n_rows = models.BigIntegerField(help_text="rows of the files that have the index")
    n_bytes = models.BigIntegerField(help_text="bytes of the indexes")
    n_measured = models.BigIntegerField(
        default=0, help_text="files whose index was asked for absent keys when it was built"
    )
    false_positives = models.FloatField(
        null=True, help_text="the share of absent keys that pass, the mean of those files"
    )
    refused = models.TextField(blank=True, help_text="why it is not worth its bytes")
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["table", "place"], name="optimizer_index_coverage"),
        ]

    def __str__(self) -> str:
        return f"{self.column}:{self.wanted} {self.partition}"


class IndexUse(models.Model):
    """What one kind of index of one column dropped on one day, as readers reported it."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="index_uses")
    column = models.CharField(max_length=512)
    kind = models.CharField(max_length=16)
    day = models.DateField(help_text="in UTC, when the report came")
    n_plans = models.BigIntegerField(default=0, help_text="plans of which it dropped files")
    n_files = models.BigIntegerField(default=0, help_text="data files dropped")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes not read because of it")
    last_used_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "day", "column", "kind"], name="optimizer_index_use_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.column}:{self.kind} {self.day}"
