"""Recently read data that may be dropped all the same, because its owner approved it."""

import uuid

from django.db import models


class DeletionConsent(models.Model):
    """An owner's yes: data of a table (or one partition) may go although it was read lately.

    It counts up to its last day, unless it is taken back, and only while the person may say it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    partition = models.CharField(max_length=767, blank=True, help_text="empty = the whole table")
    tbl_id = models.BigIntegerField()
    until = models.DateField(help_text="The last day on which it counts.")
    reason = models.TextField()
    given_by = models.CharField(max_length=150)
    given_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=150, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["lake", "until"], name="still_read_until"),
            models.Index(fields=["lake", "db", "table"], name="still_read_name"),
            models.Index(fields=["lake", "given_at", "id"], name="still_read_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} until {self.until}"

    @property
    def name(self) -> str:
        """What may go: `db.table` or `db.table partition`."""
        return f"{self.db}.{self.table} {self.partition}".strip()
