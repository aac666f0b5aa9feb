"""Models of the last inspection of a table's files and the last probe of its front ends."""

from typing import ClassVar

from django.db import models

from refresh.changes.models import RefreshTarget, WatchedTable


class TableSweep(models.Model):
    """The last look at the files of a table."""

    table = models.OneToOneField(WatchedTable, on_delete=models.CASCADE, related_name="sweep")
    inspected_at = models.DateTimeField(null=True, help_text="when a check last began")
    seen_at = models.DateTimeField(null=True, help_text="when a check last came through")
    scanned_from = models.TextField(blank=True, help_text="from this name on all were seen")
    problem = models.TextField(blank=True, help_text="why nothing could be concluded")

    def __str__(self) -> str:
        return str(self.table)


class FileStamp(models.Model):
    """What the directory of one partition held; the table's own has no name."""

    table = models.ForeignKey(WatchedTable, on_delete=models.CASCADE, related_name="stamps")
    # A name may be longer than an index takes.
    digest = models.CharField(max_length=64, help_text="sha256 of the name")
    name = models.TextField(blank=True)
    n_files = models.BigIntegerField()
    n_bytes = models.BigIntegerField()
    newest_ms = models.BigIntegerField()
    seen_at = models.DateTimeField()
    changed_at = models.DateTimeField(null=True, help_text="when it was last found changed")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "digest"], name="refresh_stamp_once")
        ]

    def __str__(self) -> str:
        return f"{self.table}: {self.name}"


class TargetProbe(models.Model):
    """The last probe of a table's front ends, and when one last asked for a refresh."""

    target = models.OneToOneField(RefreshTarget, on_delete=models.CASCADE, related_name="probe")
    probed_at = models.DateTimeField(null=True)
    repaired_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, help_text="why nothing could be concluded")

    def __str__(self) -> str:
        return str(self.target)
