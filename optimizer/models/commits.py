"""What was committed to a table, and which files did a commit of ours lay out?"""

from typing import ClassVar

from django.db import models

from optimizer.models.tables import IcebergTable


class Commit(models.Model):
    """One snapshot that became a table's current one, as its summary tells."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="commits")
    snapshot_id = models.BigIntegerField()
    parent_id = models.BigIntegerField(null=True)
    sequence = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    heard_at = models.DateTimeField()
    operation = models.CharField(max_length=16, blank=True, help_text="empty where not told")
    is_ours = models.BooleanField(default=False)
    n_added = models.BigIntegerField(default=0)
    n_removed = models.BigIntegerField(default=0)
    bytes_added = models.BigIntegerField(default=0)
    bytes_removed = models.BigIntegerField(default=0)
    n_deletes_added = models.BigIntegerField(default=0)
    n_changed_partitions = models.BigIntegerField(null=True)
    source = models.CharField(max_length=8, help_text="event, poll, report or look")
    report = models.JSONField(default=dict, help_text="a writer's own report: attempts, duration")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "snapshot_id"], name="optimizer_commit_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "at"], name="optimizer_commit_at"),
            # Of the whole lake the oldest are forgotten.
            models.Index(fields=["at"], name="optimizer_commit_old"),
        ]

    def __str__(self) -> str:
        return f"{self.operation or 'commit'} {self.snapshot_id}"


class LayoutWrite(models.Model):
    """How every file of one write of ours is laid out; the files' names hold `write_id`.

    Kept by the write and not by the snapshot, because snapshots expire and files stay.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="layouts")
    write_id = models.CharField(max_length=64)
    layout = models.TextField(help_text="hilbert(a,b), or empty for a plain bin-pack")
    boundaries = models.JSONField(null=True, help_text="what the ids of its columns were cut at")
    partition = models.TextField(blank=True)
    snapshot_id = models.BigIntegerField()
    at = models.DateTimeField()
    searched_at = models.DateTimeField(
        null=True, help_text="when a look last searched for files of it"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "write_id"], name="optimizer_layout_once")
        ]

    def __str__(self) -> str:
        return f"{self.layout or 'bin-pack'} {self.write_id}"
