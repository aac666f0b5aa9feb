"""Which reports were taken already, so that one that comes again counts once."""

from typing import ClassVar

from django.db import models


class ReportSender(models.Model):
    """A program that reports, and how far its reports were taken."""

    lake = models.CharField(max_length=64)
    user = models.CharField(max_length=150, help_text="whose token it has")
    sender = models.UUIDField(help_text="chosen by the program when it started")
    sequence = models.BigIntegerField(default=0, help_text="of the last report that was taken")
    reported_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["sender", "lake", "user"], name="optimizer_report_sender_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.sender} of {self.user}"
