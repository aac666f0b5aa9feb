"""What owners ask to have cleaned now, as rows."""

import uuid
from typing import ClassVar

from django.db import models

from lifecycle.drop.models.plans import LAKE_CHARS, NAME_CHARS, PARTITION_CHARS, DropPlan


class DeletionRequest(models.Model):
    """An owner's request that a table, or one partition of it, be cleaned now.

    An admin may plan it.

    `with_still_read` is the owner's explicit yes to data that was read in the last 30 days.
    """

    class State(models.TextChoices):
        """Where the request stands."""

        OPEN = "OPEN", "open"
        PLANNED = "PLANNED", "in a plan"
        CLOSED = "CLOSED", "closed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lake = models.CharField(max_length=LAKE_CHARS)
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS)
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    with_recently_read = models.BooleanField(default=False)
    requested_by = models.CharField(max_length=150)
    reason = models.TextField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    plan = models.ForeignKey(
        DropPlan,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="requests",
    )
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=150, blank=True)
    closed_reason = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "created_at", "id"], name="clean_now_by_state")
        ]

    def __str__(self) -> str:
        return f"clean {self.db}.{self.table} {self.partition}".strip()
