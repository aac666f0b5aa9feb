"""Stores the presses of the emergency stop, one row each, with the proposal to end it."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models

LAKE_CHARS = 32
USER_CHARS = 150
RELEASE_LASTS = timedelta(days=1)
# A press is never stored without words: jobs are told of it by them (`control.json`).
NO_REASON_YET = "No reason given yet."


class EmergencyStop(models.Model):
    """A press of the emergency stop: while one is not released, nothing acts on that lake."""

    lake = models.CharField(max_length=LAKE_CHARS)
    pressed_by = models.CharField(max_length=USER_CHARS)
    pressed_at = models.DateTimeField()
    reason = models.TextField()
    release_id = models.UUIDField(null=True)
    """The proposal that waits for a second admin, if any; another one has another id."""
    release_proposed_by = models.CharField(max_length=USER_CHARS, blank=True)
    release_proposed_at = models.DateTimeField(null=True)
    release_reason = models.TextField(blank=True)
    released_by = models.CharField(max_length=USER_CHARS, blank=True)
    released_at = models.DateTimeField(null=True)
    is_open = models.BooleanField(null=True, default=True)
    """True while it is pressed, then NULL: a key of a lake and NULL is never taken."""

    class Meta:
        db_table = "act_redbutton"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "is_open"], name="safety_pressed_once")
        ]

    def __str__(self) -> str:
        return f"{self.lake}: {self.reason}"

    @property
    def needs_reason(self) -> bool:
        """Whether whoever pressed it has given no reason yet."""
        return self.reason == NO_REASON_YET

    @property
    def release_expires_at(self) -> datetime | None:
        """When the proposal to end it expires; None where there is none."""
        if self.release_id is None or self.release_proposed_at is None:
            return None
        return self.release_proposed_at + RELEASE_LASTS
