"""Orphan files that were moved aside and are kept for some days before they are deleted."""

import uuid
from typing import ClassVar

from django.db import models

from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.removals.models import RemovalPlan


class Quarantine(models.Model):
    """The files of one approved list that lie beside their table's data.

    What lies there is said by the directory itself: its manifest is the approved list.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    plan = models.OneToOneField(RemovalPlan, on_delete=models.PROTECT, related_name="quarantine")
    directory = models.TextField(help_text="below the table's place")
    state = models.CharField(
        max_length=12,
        choices=[(one.value, one.value) for one in QuarantineState],
        default=QuarantineState.HELD.value,
    )
    n_files = models.BigIntegerField(help_text="that are there now")
    n_bytes = models.BigIntegerField()
    moved_at = models.DateTimeField()
    delete_after = models.DateTimeField(help_text="its days are those of the approved list")
    run = models.UUIDField(null=True, help_text="the run that returns or deletes, or last did")
    tried_at = models.DateTimeField(null=True, help_text="when a run last tried to delete")
    reason = models.TextField(blank=True, help_text="why some of it was left, in words")
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=150, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["state", "delete_after"], name="optimizer_quarantine_due"),
        ]

    def __str__(self) -> str:
        return self.directory
