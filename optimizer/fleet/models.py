"""Sums of a whole lake, so that its page adds up no table's rows."""

from typing import ClassVar

from django.db import models

from optimizer.iceberg.tables.models import IcebergTable


class ScanDay(models.Model):
    """All reported scans of a lake on one day; they are the sum of its slots.

    Web workers add to slots of their own, so that they do not wait for one row.
    """

    lake = models.CharField(max_length=64)
    day = models.DateField(help_text="in UTC, when the report came")
    slot = models.PositiveSmallIntegerField()
    n_scans = models.BigIntegerField(default=0)
    n_files = models.BigIntegerField(default=0, help_text="data files left to read")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes of the files left to read")
    n_skipped = models.BigIntegerField(default=0, help_text="data files left out by planning")
    skipped_bytes = models.BigIntegerField(
        default=0, help_text="of them, estimated: times the mean size of the table's files"
    )
    n_unsized = models.BigIntegerField(
        default=0, help_text="of them, files of tables whose size was not known: in no bytes"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "day", "slot"], name="optimizer_scan_day_once")
        ]

    def __str__(self) -> str:
        return f"{self.lake} {self.day} {self.slot}"


class SkippedDay(models.Model):
    """What one kind of index, or cubes, kept from being read in a lake on one day, as reported."""

    lake = models.CharField(max_length=64)
    day = models.DateField(help_text="in UTC, when the report came")
    cause = models.CharField(max_length=16, help_text="a kind of index, or cubes")
    slot = models.PositiveSmallIntegerField()
    n_times = models.BigIntegerField(default=0, help_text="plans, or queries")
    n_files = models.BigIntegerField(default=0, help_text="data files dropped; 0 for cubes")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes not read because of it")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "day", "cause", "slot"], name="optimizer_skipped_day_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cause} of {self.lake} {self.day} {self.slot}"


class UnservedShape(models.Model):
    """Scans of a week that filter a table as no layout, index or cube of it serves.

    The ones that planned most, of the tables that planned most; an hourly turn replaces them.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="unserved")
    filters = models.JSONField(default=list, help_text="[column, kind] in order; empty: no filter")
    n_scans = models.BigIntegerField()
    n_bytes = models.BigIntegerField(help_text="planned by them in the week")
    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.table} {self.filters}"
