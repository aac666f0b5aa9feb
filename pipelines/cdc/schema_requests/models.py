"""Requests to decide on a change of a captured table's schema."""

from typing import ClassVar

from django.db import models

from pipelines.cdc.control.models import SchemaChange
from portal.approvals.models import Effect, Proposal


class SchemaRequest(Proposal):
    """One change of schema, put to admins; of a change one request is open at most."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, help_text="of the lake's table")
    table = models.CharField(max_length=128, help_text="of the lake")
    change = models.ForeignKey(SchemaChange, on_delete=models.CASCADE, related_name="requests")
    requested_by = models.CharField(max_length=150)
    note = models.TextField(blank=True)
    open_key = models.BigIntegerField(
        null=True, unique=True, help_text="the change while the request is open"
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "created_at"], name="cdc_request_state")
        ]

    @property
    def effect(self) -> Effect:
        """What it releases; it takes no data away."""
        return Effect(f"changes of {self.db}.{self.table} applied under another schema")

    def __str__(self) -> str:
        return f"Schema {self.change.number} of {self.db}.{self.table}"
