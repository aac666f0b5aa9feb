"""Items of backup batches that someone asked to see, and notices of coming purges, as rows."""

from typing import ClassVar

from django.db import models

from lifecycle.drop.models.plans import PARTITION_CHARS


class BackupSlice(models.Model):
    """Items of one backup batch, copied here by a short run because someone asked to see them."""

    id = models.BigAutoField(primary_key=True)
    batch = models.ForeignKey("act.BackupBatch", on_delete=models.CASCADE, related_name="+")
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    source = models.TextField()
    n_files = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    read_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["batch", "partition"], name="backup_slice_once")
        ]

    def __str__(self) -> str:
        return self.partition or "(whole table)"


class PurgeNotice(models.Model):
    """A last-chance notice that named a backup batch and its date; it counts once it was sent."""

    id = models.BigAutoField(primary_key=True)
    batch = models.ForeignKey("act.BackupBatch", on_delete=models.CASCADE, related_name="+")
    notice = models.ForeignKey("notices.Notice", on_delete=models.PROTECT, related_name="+")
    purge_after = models.DateTimeField(null=True, help_text="The date it named; null: unknown.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["batch", "notice"], name="purge_announced_once")
        ]

    def __str__(self) -> str:
        return f"{self.batch_id} announced by {self.notice_id}"
