"""Stores the presses of the emergency stop, one row each."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

LAKE_CHARS = 32
USER_CHARS = 150


class EmergencyStop(models.Model):
    """A press of the emergency stop: while one is not released, nothing acts on that lake."""

    lake = models.CharField(max_length=LAKE_CHARS)
    pressed_by = models.CharField(max_length=USER_CHARS)
    pressed_at = models.DateTimeField()
    reason = models.TextField()
    released_by = models.CharField(max_length=USER_CHARS, blank=True)
    released_at = models.DateTimeField(null=True)
    release_reason = models.TextField(blank=True)

    class Meta:
        db_table = "act_redbutton"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake"], condition=Q(released_at__isnull=True), name="act_pressed_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.lake}: {self.reason}"
